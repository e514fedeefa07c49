//! Starts and ends the desktop app, in order: process, arguments, single instance, host, windows,
//! run, clean end.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use contract::AgentError;
use tauri::{AppHandle, Manager, RunEvent, Wry};
use tauri_plugin_dialog::{DialogExt, MessageDialogKind};
use tauri_plugin_window_state::StateFlags;

use super::{
    args::{self, Args, Print},
    backend::Backend,
    closing, commands, environment,
    language::{self, CurrentLanguage},
    listeners::Listeners,
    notify, pictures, pushes, tray, window_events, windows,
};

/// How long stopping may take before the app exits anyway.
const LONGEST_STOP: Duration = Duration::from_secs(8);

/// Runs the app and returns the process's exit code.
pub(crate) fn run_app() -> ExitCode {
    host::keep_private();
    environment::prepare_environment();
    let args = match args::read_args(
        std::env::args_os().skip(1),
        std::env::var_os("COUNTERSIGN_DATA_DIR"),
    ) {
        Ok(args) => args,
        Err(problem) => return print_problem(&problem, 2),
    };
    match args.print {
        Some(Print::Help) => return print_text(args::HELP),
        Some(Print::Version) => {
            return print_text(concat!("countersign ", env!("CARGO_PKG_VERSION")));
        }
        None => {}
    }
    match make_builder(&args).build(tauri::generate_context!()) {
        Ok(app) => ExitCode::from(u8::try_from(app.run_return(handle_event)).unwrap_or(1)),
        Err(error) => print_problem(&format!("Countersign could not open its window: {error}"), 1),
    }
}

fn make_builder(args: &Args) -> tauri::Builder<Wry> {
    let data_dir = args.data_dir.clone();
    tauri::Builder::default()
        .plugin(
            tauri_plugin_single_instance::Builder::new()
                .dbus_id(instance_name(args.data_dir.as_deref()))
                .callback(|app, _, _| windows::show_main(app))
                .build(),
        )
        .plugin(
            tauri_plugin_window_state::Builder::new()
                .with_denylist(&[super::guard::APPROVAL])
                .with_state_flags(StateFlags::all() - StateFlags::VISIBLE)
                .build(),
        )
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        .manage(CurrentLanguage::of_locale())
        .manage(Listeners::default())
        .manage(windows::Windows::default())
        .manage(Ending::default())
        .manage(closing::Question::default())
        .invoke_handler(commands::handler())
        .register_asynchronous_uri_scheme_protocol("shopimg", |context, request, responder| {
            let (app, label) = (context.app_handle().clone(), context.webview_label().to_owned());
            tauri::async_runtime::spawn(async move {
                responder.respond(pictures::answer_request(app, label, request).await)
            });
        })
        .on_window_event(window_events::handle_window_event)
        .setup(move |app| {
            let look = host::SplashSettings::read(data_dir.clone());
            let backend = Backend::open(data_dir);
            app.manage(backend.clone());
            windows::open_main(app.handle(), &look)?;
            #[cfg(debug_assertions)]
            windows::open_probe(app.handle())?;
            tray::prepare_tray(app.handle(), window_events::quit);
            notify::open_window_on_click(app.handle());
            let handle = app.handle().clone();
            tauri::async_runtime::spawn(async move { run_host_tasks(handle, backend).await });
            tauri::async_runtime::spawn(leave_on_signal(app.handle().clone()));
            Ok(())
        })
}

/// Starts everything that needs the host. Without a host, shows the reason and exits.
async fn run_host_tasks(app: AppHandle, backend: Backend) {
    match backend.host().await {
        Ok(host) => {
            let pushes = host.subscribe();
            if let Ok(view) =
                contract::Commands::settings_get(host.as_ref(), contract::Empty {}).await
            {
                language::apply_setting(&app, &view.locale);
                tray::refresh_language(&app);
            }
            // The program runs no turn until a person has seen the alarm, so the window is shown.
            if host.alarm().is_some() {
                windows::show_approval(&app);
            }
            pushes::forward_pushes(app, pushes).await;
        }
        Err(error) => show_start_failure(&app, &error),
    }
}

fn show_start_failure(app: &AppHandle, error: &AgentError) {
    let language = language::current(app);
    let (message, hint) = language.start_failure(error);
    let text = hint.map_or_else(|| message.clone(), |hint| format!("{message}\n\n{hint}"));
    eprintln!("{}: {}", language.cannot_start(), text.replace("\n\n", " "));
    let handle = app.clone();
    app.dialog()
        .message(text)
        .title(language.cannot_start())
        .kind(MessageDialogKind::Error)
        .show(move |_| handle.exit(1));
}

/// Whether the host has been stopped.
#[derive(Default)]
struct Ending {
    begun: AtomicBool,
    done: AtomicBool,
}

fn handle_event(app: &AppHandle, event: RunEvent) {
    if let RunEvent::ExitRequested { api, code, .. } = event {
        let ending = app.state::<Ending>();
        if ending.done.load(Ordering::Acquire) {
            return;
        }
        api.prevent_exit();
        if ending.begun.swap(true, Ordering::AcqRel) {
            return;
        }
        app.webview_windows().values().for_each(|window| drop(window.hide()));
        let app = app.clone();
        tauri::async_runtime::spawn(async move {
            let backend = app.state::<Backend>().inner().clone();
            // A host that hangs must not keep the app open. The log is intact in either case.
            if tokio::time::timeout(LONGEST_STOP, backend.stop()).await.is_err() {
                tracing::error!("the app took too long to stop");
            }
            app.state::<Ending>().done.store(true, Ordering::Release);
            app.exit(code.unwrap_or(0));
        });
    }
}

async fn leave_on_signal(app: AppHandle) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    app.exit(0);
}

/// Returns the name by which a second start finds the first one. Each data folder has its own name.
fn instance_name(data_dir: Option<&Path>) -> String {
    let base = "io.countersign.desktop";
    let Some(folder) = data_dir else { return base.to_owned() };
    let mut hasher = DefaultHasher::new();
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).hash(&mut hasher);
    format!("{base}.p{:016x}", hasher.finish())
}

fn print_problem(problem: &str, code: u8) -> ExitCode {
    eprintln!("{problem}");
    ExitCode::from(code)
}

fn print_text(text: &str) -> ExitCode {
    println!("{text}");
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_data_folder_has_its_own_instance_name() {
        let (one, two) =
            (instance_name(Some(Path::new("/a"))), instance_name(Some(Path::new("/b"))));
        assert_ne!(one, two);
        assert_eq!(
            one,
            instance_name(Some(Path::new("/a/"))),
            "the same folder written differently"
        );
        assert_eq!(instance_name(None), "io.countersign.desktop");
    }
}
