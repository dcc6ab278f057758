/** The style of the figures, with the colours of the page. */
export const FIGURE_STYLE = `
.chart { display: grid; grid-template-columns: minmax(0, 1fr); gap: 14px 32px; }
.chart figcaption { font-weight: 400; margin: 0; }
.chart strong { font-size: 15px; font-weight: 650; }
.chart p { color: var(--muted); font-size: 13px; margin: 2px 0 0; }
.chart ul { list-style: none; display: flex; flex-wrap: wrap; gap: 3px 16px; margin: 10px 0 0; padding: 0; font-size: 13px; }
.chart li svg { display: inline-block; width: 12px; height: 12px; margin-right: 7px; vertical-align: -1px; }
.chart li b { font-weight: 600; font-variant-numeric: tabular-nums; }
.chart .patterns { position: absolute; width: 0; height: 0; }
.chart :is(.good, .info, .warning, .error) { fill: var(--edge); }
.chart .neutral { fill: var(--muted); }
.plots { color: var(--ink); min-width: 0; }
.plots svg { fill: currentColor; font-family: inherit; font-variant-numeric: tabular-nums; overflow: visible; }
.plots text { paint-order: stroke; stroke: var(--surface); stroke-width: 3px; stroke-linejoin: round; }
.plots .muted { fill: var(--muted); }
.plots .line { stroke: var(--line); }
.plots .mark { stroke: currentColor; fill: none; }
.plots .narrow { display: none; }
.many { display: grid; grid-template-columns: 1fr 1fr; gap: 12px 24px; }
@media (min-width: 1000px) {
  .chart { grid-template-columns: 240px minmax(0, 1fr); }
  .chart ul { display: block; }
}
@media print {
  .chart { grid-template-columns: 55mm minmax(0, 1fr); }
  .chart strong { font-size: 10pt; }
  .chart p, .chart ul { font-size: 8pt; }
  .plots text { stroke: #fff; }
  .plots svg { max-height: 95mm; }
}
@media screen and (max-width: 700px) {
  .chart .wide { display: none; }
  .chart .narrow { display: block; max-width: 460px; }
  .many { grid-template-columns: minmax(0, 1fr); }
}
`;
