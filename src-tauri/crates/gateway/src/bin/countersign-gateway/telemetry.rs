//! Exports the server's traces and metrics to a collector by OTLP (protobuf over HTTP) if the
//! environment names one. Otherwise no exporter is created. Spans contain ids, names, counts and
//! outcomes, but no user text.

use std::time::Duration;

use contract::AgentError;
use host::{ExportingClient, exporting_client};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::{Resource, metrics::SdkMeterProvider, trace::SdkTracerProvider};
use tracing_opentelemetry::MetricsLayer;
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};

/// The tracing target of exported spans; metrics have a separate target. The log shows only the
/// spans that add the ids of a request and its turn.
pub(crate) const SPANS: &str = "spans";
const METRICS: &str = "metrics";
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
/// The default timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The running exporters.
pub(crate) struct Telemetry {
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
}

impl Telemetry {
    /// Reads the standard OTLP variables. Returns None if no export is configured.
    pub(crate) fn read_variables(
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, AgentError> {
        let text = |name: &str| {
            variable(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        if text("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let wanted = |signal: &str| {
            let exporter = text(&format!("OTEL_{signal}_EXPORTER"));
            let endpoint =
                text(ENDPOINT).or_else(|| text(&format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")));
            endpoint.is_some()
                && exporter
                    .is_none_or(|exporter| exporter.split(',').any(|name| name.trim() == "otlp"))
        };
        let (traces, metrics) = (wanted("TRACES"), wanted("METRICS"));
        if !traces && !metrics {
            return Ok(None);
        }
        for (signal, _) in
            [("TRACES", traces), ("METRICS", metrics)].into_iter().filter(|(_, wanted)| *wanted)
        {
            let own = format!("OTEL_EXPORTER_OTLP_{signal}_PROTOCOL");
            if let Some(other) =
                text(&own).or_else(|| text(PROTOCOL)).filter(|protocol| protocol != "http/protobuf")
            {
                return Err(configuration_error(&format!(
                    "{other} is not supported: {PROTOCOL} must be http/protobuf, or not be set."
                )));
            }
        }
        // The exporter's client reads the certificates when it is created, even for plain HTTP.
        files::check_certificates().map_err(|why| configuration_error(&format!("{why}.")))?;
        let resource = make_resource(&text);
        let client = |signal: &str| exporting_client(read_timeout(&text, signal));
        let traces =
            traces.then(|| make_tracer(resource.clone(), client("TRACES")?)).transpose()?;
        let metrics = metrics.then(|| make_meter(resource, client("METRICS")?)).transpose()?;
        Ok(Some(Self { traces, metrics }))
    }

    /// Returns the layers that receive spans and metrics. Log events are not exported, because they
    /// may quote errors.
    pub(crate) fn layers<S>(&self) -> Vec<Box<dyn Layer<S> + Send + Sync>>
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let mut layers: Vec<Box<dyn Layer<S> + Send + Sync>> = Vec::new();
        if let Some(traces) = &self.traces {
            let layer = tracing_opentelemetry::layer()
                .with_tracer(traces.tracer("csign"))
                .with_location(false)
                .with_threads(false)
                .with_target(false);
            let layer = layer.with_tracked_inactivity(false).with_level(false);
            layers.push(
                layer
                    .with_filter(filter_fn(|about| about.is_span() && about.target() == SPANS))
                    .boxed(),
            );
        }
        if let Some(metrics) = &self.metrics {
            layers.push(
                MetricsLayer::new(metrics.clone())
                    .with_filter(filter_fn(|about| about.is_event() && about.target() == METRICS))
                    .boxed(),
            );
        }
        layers
    }

    /// Sends the remaining data and stops. A collector that does not answer is reported in the log
    /// and causes no delay.
    pub(crate) fn stop(self) {
        if let Some(Err(error)) = self.traces.map(|traces| traces.shutdown()) {
            tracing::warn!(%error, "the last spans could not be sent");
        }
        if let Some(Err(error)) = self.metrics.map(|metrics| metrics.shutdown()) {
            tracing::warn!(%error, "the last metrics could not be sent");
        }
    }
}

/// Returns the service's name for the collector: the name in the environment, or else `csign`,
/// which existing dashboards use.
fn make_resource(text: &dyn Fn(&str) -> Option<String>) -> Resource {
    let named = text("OTEL_SERVICE_NAME").is_some()
        || text("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|all| all.contains("service.name="));
    let builder = Resource::builder();
    let builder = if named { builder } else { builder.with_service_name("csign") };
    builder
        .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Returns the timeout of a request, which the environment sets in milliseconds.
fn read_timeout(text: &dyn Fn(&str) -> Option<String>, signal: &str) -> Duration {
    text(&format!("OTEL_EXPORTER_OTLP_{signal}_TIMEOUT"))
        .or_else(|| text("OTEL_EXPORTER_OTLP_TIMEOUT"))
        .and_then(|text| text.parse().ok())
        .map_or(TIMEOUT, Duration::from_millis)
}

fn make_tracer(
    resource: Resource,
    client: ExportingClient,
) -> Result<SdkTracerProvider, AgentError> {
    let exporter =
        SpanExporter::builder().with_http().with_http_client(client).build().map_err(|error| {
            configuration_error(&format!("Traces cannot be exported: {error}."))
        })?;
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}

fn make_meter(resource: Resource, client: ExportingClient) -> Result<SdkMeterProvider, AgentError> {
    let exporter =
        MetricExporter::builder().with_http().with_http_client(client).build().map_err(
            |error| configuration_error(&format!("Metrics cannot be exported: {error}.")),
        )?;
    Ok(SdkMeterProvider::builder().with_periodic_exporter(exporter).with_resource(resource).build())
}

fn configuration_error(message: &str) -> AgentError {
    AgentError::invalid(message)
        .reason("invalid_configuration")
        .hint("docs/gateway.md lists every setting.")
}
