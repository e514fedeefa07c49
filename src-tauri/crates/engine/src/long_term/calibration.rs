//! Finds the threshold of an embedding model: the similarity that hardly any two unrelated texts
//! reach.

/// Texts that are all unrelated to each other, in two languages and of several lengths.
const TEXTS: [&str; 24] = [
    "The train to the coast leaves at noon",
    "how do I clean a cast-iron pan",
    "Two cats sleep on the warm roof",
    "The parliament voted on the new fishing law",
    "what is the capital of Peru",
    "She plays the cello in a small orchestra",
    "Our printer is out of yellow ink",
    "The glacier has lost a third of its volume",
    "Water the tomatoes twice a week",
    "who won the chess tournament",
    "The vaccine must be stored below eight degrees",
    "A violin string broke during the rehearsal",
    "Bussen till stranden går varje timme",
    "hur bakar man surdegsbröd",
    "Grannens hund skäller på natten",
    "Riksdagen röstade om den nya fiskelagen",
    "vilken färg har planeten Mars",
    "Hon springer maraton i september",
    "Skrivaren på plan tre är trasig",
    "Snön låg djup över fjället",
    "Tandläkaren har öppet till klockan fem",
    "vem skrev boken om sommarön",
    "Ett museum om gamla båtar",
    "Batteriet räcker i åtta timmar",
];
/// The share of unrelated pairs that may reach the threshold.
const SHARE: f32 = 0.02;

/// Returns the texts whose vectors [`calibrate_threshold`] needs.
pub fn calibration_texts() -> &'static [&'static str] {
    &TEXTS
}

/// Returns the threshold of a model from its vectors of the calibration texts.
pub fn calibrate_threshold(vectors: &[Vec<f32>]) -> f32 {
    let mut similarities = Vec::new();
    for (at, one) in vectors.iter().enumerate() {
        for other in &vectors[..at] {
            similarities.push(one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>());
        }
    }
    similarities.sort_unstable_by(|a, b| b.total_cmp(a));
    let place = (similarities.len() as f32 * SHARE) as usize;
    similarities.get(place).copied().unwrap_or_default().clamp(0.05, 0.98)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_similarity_threshold_is_exceeded_by_few_unrelated_texts() {
        let apart: Vec<Vec<f32>> = (0..24)
            .map(|at| (0..24).map(|other| if at == other { 1.0 } else { 0.0 }).collect())
            .collect();
        assert!((calibrate_threshold(&apart) - 0.05).abs() < 1e-6, "at least a little");
        let mut close = apart;
        for vector in close.iter_mut().take(8) {
            vector[23] = 0.5;
        }
        let threshold = calibrate_threshold(&close);
        assert!(threshold > 0.2 && threshold < 0.6, "{threshold}");
        assert!((calibrate_threshold(&[]) - 0.05).abs() < 1e-6);
    }
}
