// The opponents of a game.

/** Who plays a variant, the weakest first as they were measured in it; whoever was not measured keeps the place. */
export function playersOf(levels, variant) {
  const playing = levels.filter((level) => level.variants.includes(variant));
  const measured = playing.filter((level) => variant in level.elo).sort((a, b) => a.elo[variant] - b.elo[variant]);
  return playing.map((level) => (variant in level.elo ? measured.shift() : level));
}
