/** What the model says on the screens of `screens.ts`. */
export const RICH = `# How tides work

The **moon** pulls the sea; the sun helps it *a little*.[^1] The pull falls with the cube of the distance, $F \\propto M / r^3$:

$$
\\frac{F_\\text{moon}}{F_\\text{sun}} = \\frac{M_m}{M_s} \\left(\\frac{r_s}{r_m}\\right)^3 \\approx 2.2
$$

1. High water follows the moon, about 50 minutes later each day.
2. At *full* and *new* moon both pull together.
   - That is a spring tide.
   - [ ] Look at the table

| Port | Range | Kind |
|:---|---:|:---:|
| Saint-Malo | 12.0 m | two a day |
| Hamburg | 3.6 m | two a day |
| Kiel | 0.1 m | none to speak of |

\`\`\`python
def range_of(high: float, low: float) -> float:
    """The difference between high and low water, in metres, which is never negative."""
    return abs(high - low)  # a comment that makes this line longer than a telephone is wide
\`\`\`

> [!NOTE]
> Wind and pressure add their part.

Press <kbd>Enter</kbd>, or read [the almanac](https://example.com/almanac).

[^1]: A little less than half as much.
`;
export const CHART = `CHART: ${JSON.stringify({
  title: 'High water in Hamburg', kind: 'line', x: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
  series: [{ name: 'Morning', values: [3.4, 3.6, 3.9, 4.1, 4, 3.7, 3.5] }, { name: 'Evening', values: [3.2, 3.5, 3.7, null, 3.9, 3.6, 3.3] }],
})}`;
export const BARS = `CHART: ${JSON.stringify({
  title: 'Visitors', kind: 'bar', x: ['May', 'June', 'July', 'August'],
  series: [{ name: 'Sylt', values: [12000, 30500, 41000, 39000] }, { name: 'Föhr', values: [8000, 14000, 21000, 20500] }],
})}`;
export const TABLE = `TABLE: ${JSON.stringify({
  title: 'Ports', columns: ['Port', 'Country', 'Range in m', 'Note'],
  rows: Array.from({ length: 24 }, (_, index) => [`Port ${index + 1}`, index % 2 ? 'France' : 'Germany', 12 - index / 2, 'Two high waters a day, of which the second is a little lower.']),
})}`;
