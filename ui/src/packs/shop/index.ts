// The views of the shop: found products, one product, the cart.
import ShoppingCart from "@lucide/svelte/icons/shopping-cart";
import { list, obj, str } from "../../lib/read";
import type { ShownRows } from "../../results/shown";
import type { PackCode } from "../types";
import CartPanel from "./CartPanel.svelte";
import { combine } from "./combine";
import { cartOf } from "./shop";
import ShopResult from "./ShopResult.svelte";

const named = (names: string[]): ShownRows => ({ names });

const shop: PackCode = {
  views: {
    product_cards: {
      component: ShopResult,
      shown: ({ data }) =>
        named(list(obj(data)["items"]).flatMap((item) => str(item["name"]) ?? [])),
    },
    product: {
      component: ShopResult,
      shown: ({ data }) => named([str(obj(data)["name"]) ?? []].flat()),
    },
    cart: {
      component: ShopResult,
      panel: {
        title: "cart.title",
        show: "cart.show",
        hide: "cart.hide",
        icon: ShoppingCart,
        component: CartPanel,
        standing: true,
        count: (result) =>
          cartOf(result)?.lines.reduce((sum, { quantity }) => sum + quantity, 0) ?? 0,
        opens: (result) => (cartOf(result)?.lines.length ?? 0) > 0,
      },
    },
  },
  combine,
};

export default shop;
