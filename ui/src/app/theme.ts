// Sets the chosen theme on <html>; `system` follows the system's theme and contrast.
const dark = () => matchMedia("(prefers-color-scheme: dark)");
const contrast = () => matchMedia("(prefers-contrast: more)");
let choice = "system";

function resolved(): string {
  if (choice === "light" || choice === "dark" || choice === "contrast") return choice;
  if (contrast().matches) return "contrast";
  return dark().matches ? "dark" : "light";
}

function apply(): void {
  document.documentElement.dataset["theme"] = resolved();
}

export function setTheme(theme: string): void {
  choice = theme;
  apply();
}

export function watchSystemTheme(): void {
  dark().addEventListener("change", apply);
  contrast().addEventListener("change", apply);
  apply();
}
