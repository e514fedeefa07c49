//! The 25 categories: names, search words, price range, colours, sizes, and the shape in pictures.

use super::Dimension;

/// The shape of the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Shoe,
    Boot,
    Jacket,
    Shirt,
    Trousers,
    Backpack,
    Tent,
    SleepingBag,
    Mat,
    Bottle,
    Stove,
    Pot,
    Lamp,
    Poles,
    Hat,
    Cap,
    Glove,
    Sock,
    Bag,
}

/// One category of products.
#[derive(Debug, PartialEq)]
pub struct Category {
    pub key: &'static str,
    pub en: &'static str,
    pub sv: &'static str,
    /// Further search words (singular forms, synonyms), English and Swedish.
    pub words: &'static str,
    /// The index concepts that all products of the category have.
    pub concepts: &'static [&'static str],
    pub shape: Shape,
    /// Lowest and highest price in whole kronor.
    pub price: (i64, i64),
    pub weight_grams: (i64, i64),
    /// Two letters that part numbers contain.
    pub short: &'static str,
    pub colors: &'static [&'static str],
    /// Dimensions besides the colour.
    pub dimensions: &'static [(Dimension, &'static [&'static str])],
    /// The second words of model names.
    pub models: &'static [&'static str],
    pub materials: &'static [(&'static str, &'static str)],
}

const SHOE_SIZES: &[&str] = &["36", "37", "38", "39", "40", "41", "42", "43", "44", "45", "46"];
const CLOTHES: &[&str] = &["XS", "S", "M", "L", "XL", "XXL"];
const HANDS: &[&str] = &["S", "M", "L", "XL"];
const SOCKS: &[&str] = &["36-38", "39-41", "42-44", "45-47"];
const EARTH: &[&str] = &["black", "grey", "green", "brown", "beige", "navy"];
const BRIGHT: &[&str] = &["black", "red", "orange", "blue", "yellow", "turquoise", "purple"];
const SHOES: &[&str] =
    &["black", "grey", "white", "red", "orange", "blue", "green", "turquoise", "pink"];
const SHELLS: &[&str] = &["black", "navy", "red", "orange", "green", "blue", "yellow"];
const SOFT: &[&str] = &["black", "grey", "navy", "green", "red", "pink", "beige", "purple"];

const MESH: &[(&str, &str)] = &[
    ("Recycled mesh", "Återvunnet nät"),
    ("Ripstop mesh", "Ripstop-nät"),
    ("Knitted polyester", "Stickad polyester"),
];
const LEATHER: &[(&str, &str)] =
    &[("Full-grain leather", "Fullnarvsläder"), ("Nubuck and cordura", "Nubuck och cordura")];
const SHELL: &[(&str, &str)] = &[
    ("Three-layer nylon", "Trelagersnylon"),
    ("2.5-layer recycled polyester", "2,5-lagers återvunnen polyester"),
];
const DOWN: &[(&str, &str)] = &[
    ("Nylon with 700 cuin down", "Nylon med 700 cuin dun"),
    ("Nylon with synthetic fill", "Nylon med syntetfyllning"),
];
const FLEECE: &[(&str, &str)] =
    &[("Recycled fleece", "Återvunnen fleece"), ("Grid fleece", "Rutad fleece")];
const WOOL: &[(&str, &str)] =
    &[("Merino wool", "Merinoull"), ("Merino and polyamide", "Merino och polyamid")];
const STRETCH: &[(&str, &str)] =
    &[("Stretch nylon", "Stretchnylon"), ("Cotton and polyester", "Bomull och polyester")];
const PACK: &[(&str, &str)] = &[
    ("210D ripstop nylon", "210D ripstop-nylon"),
    ("Recycled 420D nylon", "Återvunnen 420D-nylon"),
];
const STEEL: &[(&str, &str)] = &[("Stainless steel", "Rostfritt stål")];
const POT: &[(&str, &str)] =
    &[("Anodised aluminium", "Anodiserad aluminium"), ("Titanium", "Titan")];
const PLASTIC: &[(&str, &str)] =
    &[("Tritan plastic", "Tritanplast"), ("Recycled polyethylene", "Återvunnen polyeten")];
const POLE: &[(&str, &str)] = &[("Carbon", "Kolfiber"), ("7075 aluminium", "7075-aluminium")];

macro_rules! categories {
    ($(($key:literal, $en:literal, $sv:literal, $words:literal, [$($concept:literal),*], $shape:ident, $price:expr, $weight:expr, $short:literal,
        $colors:expr, [$(($dim:ident, $values:expr)),*], [$($model:literal),*], $materials:expr)),* $(,)?) => {
        /// All categories.
        pub const CATEGORIES: &[Category] = &[$(Category {
            key: $key, en: $en, sv: $sv, words: $words, concepts: &[$($concept),*], shape: Shape::$shape, price: $price, weight_grams: $weight,
            short: $short, colors: $colors, dimensions: &[$((Dimension::$dim, $values)),*], models: &[$($model),*], materials: $materials,
        }),*];
    };
}

categories![
    (
        "trail-shoes",
        "Trail running shoes",
        "Traillöparskor",
        "trail running shoe terrängskor terrängsko traillöparsko",
        ["shoe", "trail", "running"],
        Shoe,
        (899, 1999),
        (230, 340),
        "TR",
        SHOES,
        [(Size, SHOE_SIZES)],
        ["Runner", "Pace", "Dash", "Stride", "Scout"],
        MESH
    ),
    (
        "road-shoes",
        "Road running shoes",
        "Löparskor för väg",
        "road running shoe löparsko asfalt",
        ["shoe", "road", "running"],
        Shoe,
        (799, 1899),
        (200, 300),
        "RR",
        SHOES,
        [(Size, SHOE_SIZES)],
        ["Tempo", "Glide", "Mile", "Float", "Cadence"],
        MESH
    ),
    (
        "hiking-boots",
        "Hiking boots",
        "Vandringskängor",
        "hiking boot shoe vandringskänga känga",
        ["boot", "shoe", "hiking"],
        Boot,
        (1299, 2999),
        (480, 760),
        "HB",
        EARTH,
        [(Size, SHOE_SIZES)],
        ["Trek", "Mid", "Path", "Track"],
        LEATHER
    ),
    (
        "shell-jackets",
        "Shell jackets",
        "Skaljackor",
        "shell jacket rain skaljacka regnjacka regnjackor",
        ["jacket", "shell", "waterproof"],
        Jacket,
        (1499, 4499),
        (280, 520),
        "SJ",
        SHELLS,
        [(Size, CLOTHES)],
        ["Shell", "Veil", "Guard", "Storm"],
        SHELL
    ),
    (
        "down-jackets",
        "Down jackets",
        "Dunjackor",
        "down jacket puffer dunjacka vinterjacka vinterjackor",
        ["jacket", "down", "warm"],
        Jacket,
        (1299, 3999),
        (310, 620),
        "DJ",
        SOFT,
        [(Size, CLOTHES)],
        ["Down", "Loft", "Quilt", "Puff"],
        DOWN
    ),
    (
        "fleece-jackets",
        "Fleece jackets",
        "Fleecejackor",
        "fleece jacket midlayer fleecejacka mellanlager",
        ["jacket", "fleece", "warm"],
        Jacket,
        (599, 1499),
        (260, 430),
        "FJ",
        SOFT,
        [(Size, CLOTHES)],
        ["Fleece", "Hood", "Grid", "Midlayer"],
        FLEECE
    ),
    (
        "base-layers",
        "Base layers",
        "Underställ",
        "base layer top thermal baslager undertröja",
        ["baselayer", "wool", "warm"],
        Shirt,
        (449, 1199),
        (140, 240),
        "BL",
        SOFT,
        [(Size, CLOTHES)],
        ["Base", "Merino", "Crew", "Half Zip"],
        WOOL
    ),
    (
        "hiking-trousers",
        "Hiking trousers",
        "Vandringsbyxor",
        "hiking trouser pants vandringsbyxa byxa byxor",
        ["trousers", "hiking"],
        Trousers,
        (799, 1999),
        (310, 520),
        "HT",
        EARTH,
        [(Size, CLOTHES)],
        ["Trousers", "Pants", "Trail Pants", "Flex"],
        STRETCH
    ),
    (
        "running-tights",
        "Running tights",
        "Löpartights",
        "running tight leggings löpartajts",
        ["tights", "running"],
        Trousers,
        (499, 1199),
        (150, 230),
        "RT",
        SOFT,
        [(Size, CLOTHES)],
        ["Tights", "Long Tights", "Winter Tights"],
        STRETCH
    ),
    (
        "daypacks",
        "Daypacks",
        "Dagsryggsäckar",
        "daypack backpack rucksack dagsryggsäck ryggsäck ryggsäckar",
        ["backpack"],
        Backpack,
        (599, 1599),
        (480, 900),
        "DP",
        BRIGHT,
        [(Volume, &["18 l", "24 l", "28 l"])],
        ["Day", "Pack", "Commute", "Roll"],
        PACK
    ),
    (
        "trekking-packs",
        "Trekking backpacks",
        "Vandringsryggsäckar",
        "trekking backpack rucksack hiking vandringsryggsäck ryggsäck ryggsäckar",
        ["backpack", "hiking"],
        Backpack,
        (1799, 3999),
        (1200, 2300),
        "TB",
        EARTH,
        [(Volume, &["45 l", "55 l", "65 l"])],
        ["Haul", "Carry", "Expedition", "Trek"],
        PACK
    ),
    (
        "tents",
        "Tents",
        "Tält",
        "tent tunnel dome kupoltält tunneltält",
        ["tent"],
        Tent,
        (1999, 7999),
        (1400, 3900),
        "TE",
        &["green", "red", "beige", "orange"],
        [(Size, &["2 persons", "3 persons", "4 persons"])],
        ["Dome", "Tunnel", "Camp", "Light"],
        PACK
    ),
    (
        "sleeping-bags",
        "Sleeping bags",
        "Sovsäckar",
        "sleeping bag sovsäck",
        ["sleepingbag", "warm"],
        SleepingBag,
        (999, 4499),
        (780, 1900),
        "SB",
        &["navy", "red", "green", "orange"],
        [(Length, &["Regular", "Long"]), (Zip, &["Left", "Right"])],
        ["Sleep", "Night", "Cocoon", "Dream"],
        DOWN
    ),
    (
        "sleeping-mats",
        "Sleeping mats",
        "Liggunderlag",
        "sleeping mat pad liggunderlag luftmadrass",
        ["mat"],
        Mat,
        (299, 1899),
        (350, 900),
        "SM",
        &["orange", "grey", "green", "blue"],
        [(Length, &["Regular", "Long"])],
        ["Mat", "Pad", "Air", "Rest"],
        PACK
    ),
    (
        "water-bottles",
        "Water bottles",
        "Vattenflaskor",
        "water bottle drink vattenflaska flaska flaskor",
        ["bottle"],
        Bottle,
        (99, 299),
        (90, 180),
        "WB",
        BRIGHT,
        [(Volume, &["0.5 l", "0.75 l", "1 l"])],
        ["Bottle", "Sip", "Stream", "Flow"],
        PLASTIC
    ),
    (
        "vacuum-flasks",
        "Vacuum flasks",
        "Termosar",
        "vacuum insulated flask thermos bottle termos termosflaska",
        ["bottle", "warm"],
        Bottle,
        (249, 599),
        (290, 520),
        "VF",
        BRIGHT,
        [(Volume, &["0.5 l", "0.75 l", "1 l"])],
        ["Flask", "Thermal", "Brew", "Steam"],
        STEEL
    ),
    (
        "stoves",
        "Camping stoves",
        "Campingkök",
        "camping stove burner gas stormkök kök gaskök",
        ["stove"],
        Stove,
        (399, 1799),
        (90, 950),
        "ST",
        &[],
        [],
        ["Burner", "Stove", "Flame", "Kitchen"],
        STEEL
    ),
    (
        "cookware",
        "Cookware",
        "Kokkärl",
        "cookware pot pan cook set kastrull kokkärl stekpanna",
        ["pot"],
        Pot,
        (249, 999),
        (160, 620),
        "CW",
        &[],
        [],
        ["Pot", "Cook Set", "Pan", "Kettle"],
        POT
    ),
    (
        "headlamps",
        "Headlamps",
        "Pannlampor",
        "headlamp head torch lamp light pannlampa ficklampa",
        ["lamp"],
        Lamp,
        (249, 1299),
        (45, 140),
        "HL",
        &["black", "orange", "grey", "turquoise"],
        [],
        ["300", "450", "600", "1000"],
        PLASTIC
    ),
    (
        "trekking-poles",
        "Trekking poles",
        "Vandringsstavar",
        "trekking pole hiking stick vandringsstav stav stavar",
        ["pole", "hiking"],
        Poles,
        (399, 1499),
        (320, 560),
        "TP",
        &["black", "red", "blue"],
        [(Length, &["110 cm", "120 cm", "130 cm"])],
        ["Poles", "Fold", "Stick", "Balance"],
        POLE
    ),
    (
        "beanies",
        "Beanies",
        "Mössor",
        "beanie hat mössa",
        ["hat", "warm"],
        Hat,
        (199, 449),
        (45, 90),
        "BE",
        SOFT,
        [],
        ["Beanie", "Knit", "Cuff", "Rib"],
        WOOL
    ),
    (
        "caps",
        "Caps",
        "Kepsar",
        "cap hat sun keps solhatt",
        ["hat"],
        Cap,
        (199, 449),
        (50, 90),
        "CA",
        BRIGHT,
        [],
        ["Cap", "Five Panel", "Visor"],
        STRETCH
    ),
    (
        "gloves",
        "Gloves",
        "Handskar",
        "glove mitten handske vante vantar",
        ["glove", "warm"],
        Glove,
        (249, 899),
        (60, 160),
        "GL",
        SOFT,
        [(Size, HANDS)],
        ["Gloves", "Liner", "Mitten", "Grip"],
        FLEECE
    ),
    (
        "socks",
        "Socks",
        "Strumpor",
        "sock strumpa sockor socka",
        ["sock", "wool"],
        Sock,
        (99, 299),
        (40, 90),
        "SO",
        SOFT,
        [(Size, SOCKS)],
        ["Socks", "Crew Socks", "Ankle Socks", "Liner Socks"],
        WOOL
    ),
    (
        "dry-bags",
        "Dry bags",
        "Packpåsar",
        "dry bag stuff sack packpåse torrsäck",
        ["bag", "waterproof"],
        Bag,
        (129, 449),
        (60, 210),
        "DB",
        BRIGHT,
        [(Volume, &["5 l", "13 l", "20 l", "35 l"])],
        ["Dry Bag", "Roll Top", "Sack"],
        PACK
    ),
];

/// Returns the category of a key.
pub fn category(key: &str) -> Option<&'static Category> {
    CATEGORIES.iter().find(|category| category.key == key)
}
