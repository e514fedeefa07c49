//! The background work while a profile is open. Each loop ends with the host, and does not keep the
//! host open. Must not know how the work is done.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use contract::Push;
use engine::ports::Events as _;

use crate::host::Host;

/// The time between two checks for overdue actions.
const EXPIRY_EVERY: Duration = Duration::from_secs(15);

/// The time between two checks for deletions that can no longer be undone.
const DELETIONS_EVERY: Duration = Duration::from_secs(5);

/// The time between two checks for alarms of other processes.
const ALARM_EVERY: Duration = Duration::from_secs(1);

/// The time after the start at which a large log is verified, in seconds. A process that answers
/// only one question has ended by then.
const CHECKED_AFTER: u64 = 15;

/// The time from the start to the first erasure of expired values.
const UPKEEP_AFTER: Duration = Duration::from_secs(20);
/// The time between two erasures, and between two checks of the copies.
const UPKEEP_EVERY: Duration = Duration::from_secs(3600);

/// The time between two rounds in which others confirm a checkpoint.
const CONFIRM_EVERY: Duration = Duration::from_secs(600);

/// The time between two looks at whether the rules of alerts are due. They are due each hour by the
/// profile's clock, and at once after a change.
const ALERTS_EVERY: Duration = Duration::from_secs(60);

/// The time between two looks at whether the sample ends on an earlier day.
const TABLES_EVERY: Duration = Duration::from_secs(600);

/// The minimum time between two pushes about new records.
const TOTALS_EVERY: Duration = Duration::from_millis(250);

/// Starts all loops of an open profile.
pub(super) fn start_loops(host: &Arc<Host>) {
    tokio::spawn(expire_actions(Arc::downgrade(host)));
    tokio::spawn(finish_deletions(Arc::downgrade(host)));
    tokio::spawn(watch_alarms(Arc::downgrade(host)));
    tokio::spawn(keep_up_log(Arc::downgrade(host)));
    tokio::spawn(confirm_checkpoints(Arc::downgrade(host)));
    tokio::spawn(end_idle_data_processes(Arc::downgrade(host)));
    tokio::spawn(check_alerts(Arc::downgrade(host)));
    tokio::spawn(keep_tables(Arc::downgrade(host)));
    push_log_totals(host);
}

/// Expires overdue actions regularly, even if no client lists them.
async fn expire_actions(host: Weak<Host>) {
    loop {
        tokio::time::sleep(EXPIRY_EVERY).await;
        let Some(host) = host.upgrade() else { return };
        // During an alarm, the expiry could not be recorded, so it is postponed.
        if host.log.alarm().is_none() {
            host.engine.expire_overdue_actions().await;
        }
    }
}

/// Deletes the data of conversations whose deletion can no longer be undone.
async fn finish_deletions(host: Weak<Host>) {
    loop {
        tokio::time::sleep(DELETIONS_EVERY).await;
        let Some(host) = host.upgrade() else { return };
        host.engine.sessions.finish_due_deletions().await;
    }
}

/// Watches for alarms of other processes, and verifies a large log some time after the start.
async fn watch_alarms(host: Weak<Host>) {
    for second in 1_u64.. {
        tokio::time::sleep(ALARM_EVERY).await;
        let Some(host) = host.upgrade() else { return };
        if second == CHECKED_AFTER
            && !host.log.checked_whole()
            && host.log.alarm().is_none()
            && let Err(error) = host.verify().await
        {
            tracing::warn!(message = error.message, "the log could not be checked as a whole");
        }
        host.stop_if_alarmed();
    }
}

/// Erases expired values, and updates the copies that are due.
async fn keep_up_log(host: Weak<Host>) {
    tokio::time::sleep(UPKEEP_AFTER).await;
    loop {
        let Some(host) = host.upgrade() else { return };
        host.log.keep_up().await;
        drop(host);
        tokio::time::sleep(UPKEEP_EVERY).await;
    }
}

/// Has the newest checkpoint confirmed by others.
async fn confirm_checkpoints(host: Weak<Host>) {
    let mut last = None;
    loop {
        tokio::time::sleep(CONFIRM_EVERY).await;
        let Some(host) = host.upgrade() else { return };
        // A problem that persists is recorded only once.
        last = host.log.attest(last.as_ref()).await;
    }
}

/// Ends processes of sources that nobody asks, to free their memory.
async fn end_idle_data_processes(host: Weak<Host>) {
    loop {
        let Some(pause) = host.upgrade().map(|host| host.sources.idle_check()) else { return };
        tokio::time::sleep(pause).await;
        let Some(host) = host.upgrade() else { return };
        host.sources.end_idle_processes().await;
    }
}

/// Checks the rules of alerts after a change, and each hour.
async fn check_alerts(host: Weak<Host>) {
    let Some(changes) = host.upgrade().map(|host| host.alerts.changes()) else { return };
    loop {
        tokio::select! {
            () = changes.notified() => {}
            () = tokio::time::sleep(ALERTS_EVERY) => {}
        }
        let Some(host) = host.upgrade() else { return };
        // During an alarm, nothing could be recorded.
        if host.log.alarm().is_none() {
            host.alerts.check_if_due().await;
        }
    }
}

/// Takes rows over that packs of an older version kept themselves, and makes the sample again each
/// day.
async fn keep_tables(host: Weak<Host>) {
    loop {
        let Some(host) = host.upgrade() else { return };
        let (sources, is_alarmed) = (host.sources.clone(), host.log.alarm().is_some());
        // Rows of years take a while to import, which must not keep the host open.
        drop(host);
        // During an alarm, nothing could be recorded.
        if !is_alarmed {
            sources.take_over_old_data().await;
            sources.renew_samples().await;
        }
        drop(sources);
        tokio::time::sleep(TABLES_EVERY).await;
    }
}

/// Reports the number of records to all clients.
fn push_log_totals(host: &Host) {
    let (mut totals, hub) = (host.log.watch(), Arc::clone(&host.pushes.hub));
    tokio::spawn(async move {
        while totals.changed().await.is_ok() {
            let total = *totals.borrow_and_update();
            hub.push(Push::Audit { total });
            // The pause combines many records into one push, because the view only needs to know
            // that there are new records.
            tokio::time::sleep(TOTALS_EVERY).await;
        }
    });
}
