// The module that `components.ts` at the root of the pages makes.
declare module "virtual:components" {
  const components: readonly {
    readonly name: string;
    readonly version: string;
    readonly license: string;
    readonly text: string;
  }[];
  export default components;
}
