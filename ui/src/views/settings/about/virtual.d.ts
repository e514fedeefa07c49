// The modules that `components.ts` and `crates.ts` at the root of the pages make.
declare module "virtual:components" {
  const components: readonly {
    readonly name: string;
    readonly version: string;
    readonly license: string;
    readonly text: string;
  }[];
  export default components;
}
declare module "virtual:crates" {
  const found: {
    readonly crates: readonly {
      readonly name: string;
      readonly version: string;
      readonly license: string;
      readonly texts: readonly number[];
    }[];
    readonly texts: readonly string[];
  };
  export default found;
}
