// How strong a person is, from results against opponents whose strength was measured.

const SCALE = 400 / Math.LN10;
/** Half the width of the interval that a figure may have at most: below a dozen games there is none. */
export const WIDEST = 200;

/** An Elo figure with its 95 % interval, from [{elo, won, draw, lost}]: {elo, error, games}; null without games.
 *
 * The most likely figure. One drawn game more is counted, against an opponent of average strength, so that whoever
 * has won (or lost) everything has a figure as well.
 */
export function rate(results) {
  const played = results
    .map(({ elo, won, draw, lost }) => ({ elo, games: won + draw + lost, score: won + draw / 2 }))
    .filter(({ games }) => games > 0);
  const games = played.reduce((sum, each) => sum + each.games, 0);
  if (!games) return null;
  const average = played.reduce((sum, each) => sum + each.games * each.elo, 0) / games;
  const all = [...played, { elo: average, games: 1, score: 0.5 }];
  const expected = (elo, own) => 1 / (1 + Math.exp((elo - own) / SCALE));
  const surplus = (own) => all.reduce((sum, each) => sum + each.score - each.games * expected(each.elo, own), 0);
  // What is scored beyond the expected falls as the figure rises: halve until they agree.
  let [low, high] = [average - 4000, average + 4000];
  while (high - low > 0.1) {
    const middle = (low + high) / 2;
    if (surplus(middle) > 0) low = middle;
    else high = middle;
  }
  const information = all.reduce((sum, each) => {
    const chance = expected(each.elo, low);
    return sum + each.games * chance * (1 - chance);
  }, 0);
  return { elo: Math.round(low), error: Math.round((1.96 * SCALE) / Math.sqrt(information)), games };
}
