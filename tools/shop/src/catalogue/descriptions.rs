//! Descriptions of products: one sentence per category, one per feature, in English and Swedish.

/// A feature of some products of a category, with its search concept.
pub struct Feature {
    pub en: &'static str,
    pub sv: &'static str,
    pub concept: Option<&'static str>,
}

const fn feature(en: &'static str, sv: &'static str, concept: Option<&'static str>) -> Feature {
    Feature { en, sv, concept }
}

const FOOT: &[Feature] = &[
    feature("A membrane keeps water out.", "Ett membran håller vattnet ute.", Some("waterproof")),
    feature("Deep lugs grip in mud.", "Djupa dubbar greppar i lera.", None),
    feature(
        "The wide toe box leaves room for the toes.",
        "Den breda tåboxen ger tårna plats.",
        Some("wide"),
    ),
    feature("Light enough for long days.", "Lätt nog för långa dagar.", Some("light")),
    feature("The heel can be replaced.", "Klacken kan bytas ut.", None),
];
const WEAR: &[Feature] = &[
    feature("Made of recycled fibres.", "Gjord av återvunna fibrer.", Some("recycled")),
    feature("Packs into its own pocket.", "Packas i sin egen ficka.", Some("light")),
    feature(
        "Reflective details front and back.",
        "Reflexdetaljer fram och bak.",
        Some("reflective"),
    ),
    feature("Flat seams do not chafe.", "Platta sömmar skaver inte.", None),
    feature("Two pockets with zips.", "Två fickor med dragkedja.", None),
];
const GEAR: &[Feature] = &[
    feature("Light for its size.", "Lätt för sin storlek.", Some("light")),
    feature("All wearing parts can be replaced.", "Alla slitdelar kan bytas.", None),
    feature("Made of recycled material.", "Gjord av återvunnet material.", Some("recycled")),
    feature("Tested down to minus 20 degrees.", "Testad ner till minus 20 grader.", Some("warm")),
    feature("Comes with a repair kit.", "Levereras med reparationssats.", None),
];

/// Returns the features of a category.
pub fn features(key: &str) -> &'static [Feature] {
    match key {
        "trail-shoes" | "road-shoes" | "hiking-boots" => FOOT,
        "tents" | "stoves" | "cookware" | "headlamps" | "trekking-poles" | "daypacks"
        | "trekking-packs" | "sleeping-bags" | "sleeping-mats" | "water-bottles"
        | "vacuum-flasks" | "dry-bags" => GEAR,
        _ => WEAR,
    }
}

/// Returns the first sentence of a description, in English and Swedish.
pub fn opening(key: &str) -> (&'static str, &'static str) {
    match key {
        "trail-shoes" => (
            "Trail shoe for roots, rock and soft ground.",
            "Trailsko för rötter, sten och mjukt underlag.",
        ),
        "road-shoes" => {
            ("Road shoe with an even, quiet stride.", "Vägsko med ett jämnt och tyst steg.")
        }
        "hiking-boots" => (
            "Boot that holds the ankle on stony paths.",
            "Känga som håller om vristen på steniga stigar.",
        ),
        "shell-jackets" => (
            "Shell jacket for days when it does not stop raining.",
            "Skaljacka för dagar då regnet aldrig slutar.",
        ),
        "down-jackets" => {
            ("Warm jacket for still, cold mornings.", "Varm jacka för stilla, kalla morgnar.")
        }
        "fleece-jackets" => (
            "Fleece that breathes on the way up and warms at the top.",
            "Fleece som andas på väg upp och värmer på toppen.",
        ),
        "base-layers" => (
            "Base layer that stays dry next to the skin.",
            "Underställ som håller sig torrt mot huden.",
        ),
        "hiking-trousers" => ("Trousers that follow every step.", "Byxor som följer varje steg."),
        "running-tights" => {
            ("Tights for easy miles in any weather.", "Tights för lätta mil i alla väder.")
        }
        "daypacks" => (
            "Pack for a day out or a day at work.",
            "Ryggsäck för en dagstur eller en dag på jobbet.",
        ),
        "trekking-packs" => (
            "Pack that carries a week's load on the hips.",
            "Ryggsäck som bär en veckas last på höfterna.",
        ),
        "tents" => (
            "Three-season tent that one person can pitch.",
            "Tresäsongstält som en person kan resa.",
        ),
        "sleeping-bags" => {
            ("Sleeping bag with an even, lasting warmth.", "Sovsäck med jämn och bestående värme.")
        }
        "sleeping-mats" => {
            ("Mat that keeps the cold ground away.", "Underlag som håller markkylan borta.")
        }
        "water-bottles" => ("Bottle that opens with one hand.", "Flaska som öppnas med en hand."),
        "vacuum-flasks" => (
            "Flask that keeps a drink hot through the day.",
            "Termos som håller drycken varm hela dagen.",
        ),
        "stoves" => (
            "Stove that boils half a litre in three minutes.",
            "Kök som kokar en halv liter på tre minuter.",
        ),
        "cookware" => (
            "Cookware that nests and packs small.",
            "Kokkärl som packas i varandra och blir litet.",
        ),
        "headlamps" => (
            "Headlamp with a beam for the path and one for the map.",
            "Pannlampa med en stråle för stigen och en för kartan.",
        ),
        "trekking-poles" => {
            ("Poles that spare the knees downhill.", "Stavar som skonar knäna nedför.")
        }
        "beanies" => ("Beanie that fits under a hood.", "Mössa som får plats under en huva."),
        "caps" => {
            ("Cap with a brim that bends and springs back.", "Keps med skärm som går att böja.")
        }
        "gloves" => {
            ("Gloves that still let you tie a knot.", "Handskar som man kan knyta en knut i.")
        }
        "socks" => {
            ("Socks with padding where boots press.", "Strumpor med vaddering där skorna trycker.")
        }
        _ => ("Bag that keeps its content dry.", "Påse som håller innehållet torrt."),
    }
}
