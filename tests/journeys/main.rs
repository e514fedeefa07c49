//! Journeys through the real window: Xvfb, a private session bus with a keyring, WebKitWebDriver, the built app.
//! They know the app only as its users do: by what the pages say and by what `csign` prints.

fn main() {}
