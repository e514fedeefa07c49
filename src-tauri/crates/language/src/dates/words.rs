//! Lists the words of dates, for correcting misspelt words. `atoms` and `relative` read their
//! meaning.

/// The words in folded form, separated by spaces.
pub(super) const WORDS: &str = "\
    january januari february februari march april june juni july juli august augusti september october oktober november december today yesterday tomorrow \
    idag igar imorgon forrgar monday tuesday wednesday thursday friday saturday sunday mandag tisdag onsdag torsdag fredag lordag sondag mandags tisdags \
    onsdags torsdags fredags lordags sondags week weeks weekend month months quarter quarters year years days vecka veckan veckor veckorna manad manaden \
    manader manaderna kvartal kvartalet dagar dagarna helgen last previous past this current next forra foregaende senaste innevarande nasta denna since \
    sedan until from fran between mellan during under hittills fjol till through start beginning borjan slutet half halvaret fortnight date back oct okt \
    sept trailing kommande coming upcoming latest prior sista";
