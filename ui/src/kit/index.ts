// The base components, so that views import from one place.
export { default as Badge } from "./Badge.svelte";
export { default as Button } from "./Button.svelte";
export { default as CodeBox } from "./CodeBox.svelte";
export { default as CopyButton } from "./CopyButton.svelte";
export { default as Dialog } from "./Dialog.svelte";
export { default as EmptyState } from "./EmptyState.svelte";
export { default as ErrorNote } from "./ErrorNote.svelte";
export { default as Field } from "./Field.svelte";
export { default as IconButton } from "./IconButton.svelte";
export { default as Progress } from "./Progress.svelte";
export { default as Select } from "./Select.svelte";
export { default as Spinner } from "./Spinner.svelte";
export { default as Switch } from "./Switch.svelte";
export { default as Table } from "./Table.svelte";
export { default as Tabs } from "./Tabs.svelte";
export { default as TextField } from "./TextField.svelte";
