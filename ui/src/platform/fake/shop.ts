// Products, a cart and drawn pictures of the in-memory host.
const names = ["Fell Runner trail shoe", "Ridge Line trail shoe", "Moss Path trail shoe", "Granite Grip trail shoe", "Night Trail shoe", "Summit Step trail shoe", "Peat Bog waterproof trail shoe with reinforced heel cap, quick lacing and an unusually long product name that has to be cut somewhere"];

export const products = names.map((name, index) => ({
  productId: 4711 + index,
  partNo: `TS-10${40 + index}`,
  name,
  variantName: index === 1 ? "Wide" : null,
  price: (899 + index * 200).toFixed(2),
  currency: "SEK",
  imageUrl: index === 3 ? null : index === 4 ? "/img/missing.svg" : `/img/${4711 + index}.svg`,
  onHand: index === 2 ? { value: 0, nextDeliveryDate: "2026-12-03", isActive: true } : { value: index === 1 ? 2 : 14 + index, isActive: true },
  brand: ["Northpine", "Kvist", "Northpine", "Bruk", "Kvist", "Bruk", "Northpine Outdoor Equipment Company"][index],
  color: ["Black", "Black, Red", "Grey", "Blue", "Black", "Red", "Blue"][index],
  size: "38-46",
  category: "Trail shoes",
}));

export const product = {
  productId: 4711,
  partNo: "TS-1040",
  name: names[0],
  description: "Light shoe for wet rock and roots. Drains fast, 6 mm drop, 5 mm lugs.",
  priceIncVat: "1299.00",
  currency: "SEK",
  manufacturerName: "Northpine",
  images: [{ type: "main", url: "/img/4711.svg" }],
  attributes: { isBuyable: true, Category: "Trail shoes", Material: "Recycled mesh", Weight: "290 g" },
  onHand: { value: 14, isActive: true },
  variants: [41, 42, 43, 44].map((size, index) => ({
    productId: 47110 + index,
    partNo: `TS-1040-BLK-${size}`,
    variantName: `Black, ${size}`,
    isBuyable: index !== 3,
    onHand: { value: [6, 3, 5, 0][index], isActive: true, nextDeliveryDate: index === 3 ? "2026-12-03" : null },
    priceIncVat: "1299.00",
    variantParametrics: [{ name: "Size", value: String(size), isPrimary: true }],
  })),
};

export const otherProduct = {
  ...product,
  productId: 4712,
  partNo: "TS-1041",
  name: names[1],
  priceIncVat: "1099.00",
  images: [{ type: "main", url: "/img/4712.svg" }],
  attributes: { isBuyable: true, Category: "Trail shoes", Material: "Knitted polyester", Weight: "310 g" },
  onHand: { value: 0, isActive: true, nextDeliveryDate: "2026-12-03" },
};

/** Ways on after a search without result, as the host words them. */
export const noMatch = [
  { id: "broaden_search", label: "Search for “unicorn”", payload: { type: "search_broaden", query: "unicorn" } },
  { id: "remove_constraints", label: "Search without: purple", payload: { type: "remove_constraints", constraintsToRemove: ["purple"] } },
];

export const cart = {
  basketId: 88,
  basket: {
    basketId: 88,
    currencyCode: "SEK",
    items: [
      { lineNo: 1, partNo: "SO-2001-GRY", name: "Merino socks, grey", quantity: 1, imageKey: "/img/2001.svg", unitPrice: "149.00", totalPrice: "149.00" },
      { lineNo: 2, partNo: "TS-1040-BLK-42", name: "Fell Runner trail shoe (black, 42)", quantity: 2, imageKey: "/img/4711.svg", unitPrice: "1299.00", totalPrice: "2598.00" },
      { lineNo: 3, partNo: "TS-1046-BLK-42", name: names[6]!, quantity: 1, imageKey: null, unitPrice: "2099.00", totalPrice: "2099.00" },
    ],
    subtotal: "4846.00",
    total: "4846.00",
  },
};

/** A picture drawn here, in place of the shop's. */
export function shopPicture(path: string): string {
  if (path.includes("missing")) return "/img/none.svg";
  const hue = [...path].reduce((sum, char) => sum + char.charCodeAt(0) * 37, 0) % 360;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300"><rect width="400" height="300" fill="hsl(${hue} 30% 88%)"/><path d="M70 200q10-60 60-70l40 20 90 30q60 10 70 40v15H70z" fill="hsl(${hue} 35% 38%)"/><rect x="66" y="232" width="268" height="16" rx="8" fill="hsl(${hue} 30% 22%)"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
