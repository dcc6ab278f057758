/** Colours for light and dark pages: `--tone` of text, `--tint` behind text, `--edge` of borders, icons and charts. */
const COLORS = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f5f6f8, #0e1218); --surface: light-dark(#fff, #161b23); --faint: light-dark(#f3f5f8, #1c222c);
  --ink: light-dark(#1a212d, #e7ebf1); --muted: light-dark(#566071, #9ba6b6); --accent: light-dark(#2354b8, #8db5ff);
  --line: light-dark(#dfe3e9, #2b333f); --rim: light-dark(#b4bcc8, #4c5767);
}
.good { --tone: light-dark(#17653a, #7fdca2); --tint: light-dark(#e4f4ea, #11301f); --edge: light-dark(#2f9e5f, #37a866); }
.info { --tone: light-dark(#1f51ad, #9fc2ff); --tint: light-dark(#e7effc, #15263f); --edge: light-dark(#4a7fd9, #4f86e0); }
.warning { --tone: light-dark(#854a00, #f4c46f); --tint: light-dark(#fdf0d9, #33260d); --edge: light-dark(#c27803, #c98a1c); }
.error { --tone: light-dark(#a31f1b, #ffa29c); --tint: light-dark(#fde9e8, #3a1717); --edge: light-dark(#d3413b, #d9534d); }
.neutral { --tone: light-dark(#465062, #b9c2cf); --tint: light-dark(#eceff3, #252c37); --edge: var(--rim); }
`;

const PAGE = `
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 16px; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5;
  font-family: -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif; font-size: 15px; }
main { max-width: 1240px; margin: 0 auto; padding: 36px 32px 64px; overflow-wrap: break-word; }
h1 { font-size: 26px; line-height: 1.2; font-weight: 650; letter-spacing: -.01em; margin: 0; text-wrap: balance; }
h2 { font-size: 17px; margin: 32px 0 8px; }
h2.part { font-size: 21px; line-height: 1.25; letter-spacing: -.01em; margin: 44px 0 0; padding-top: 20px; border-top: 1px solid var(--line); }
h3 { font-size: 16px; margin: 24px 0 8px; }
h2.part + section > h3 { margin-top: 14px; }
p { margin: 0 0 8px; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.lead { color: var(--muted); max-width: 120ch; }
.word { white-space: nowrap; }
.note { color: var(--muted); font-size: 13px; margin: 8px 0 0; max-width: 110ch; }
.icon { width: 1.1em; height: 1.1em; flex: none; vertical-align: -.18em; margin-right: .45em; fill: var(--edge); stroke: var(--edge); stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round; }
.icon path:last-child { fill: none; stroke: var(--surface); stroke-width: 2.2; }
.scope { display: flex; flex-wrap: wrap; gap: 6px 32px; margin: 14px 0 0; }
.scope div { min-width: 0; }
dt { color: var(--muted); font-size: 12.5px; }
dd { margin: 0; font-variant-numeric: tabular-nums; }
.verdict { display: flex; gap: 16px; margin: 24px 0 0; padding: 20px 24px; border: 1px solid var(--edge); border-left-width: 6px; border-radius: 10px; background: var(--tint); }
.verdict > .icon { width: 32px; height: 32px; margin: 0; }
.verdict > div { flex: 1; min-width: 0; }
.verdict p { font-size: 20px; line-height: 1.3; font-weight: 650; color: var(--tone); margin: 2px 0 0; }
.verdict .first { font-size: 15px; font-weight: 400; line-height: 1.5; color: inherit; margin-top: 12px; padding-top: 12px; border-top: 1px solid color-mix(in srgb, var(--edge) 40%, transparent); }
.verdict a { color: inherit; text-decoration: underline; text-underline-offset: 4px; }
.verdict ul { margin: 10px 0 0; padding-left: 1.2em; }
.verdict li { margin: 3px 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(180px, 1fr)); gap: 12px; list-style: none; margin: 16px 0 0; padding: 0; }
.cards li { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; min-width: 0; overflow: hidden; }
.cards li > * { display: block; height: 100%; padding: 14px 16px; color: inherit; }
.cards a:hover { background: var(--faint); text-decoration: none; }
.cards span { display: block; color: var(--muted); font-size: 13px; }
.cards strong { display: block; font-size: 21px; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; margin: 3px 0 2px; font-variant-numeric: tabular-nums; }
.cards li small { display: block; color: var(--muted); font-size: 12.5px; line-height: 1.4; }
.cards .long { font-size: 15px; line-height: 1.4; overflow-wrap: anywhere; }
.cards strong small { display: inline; font-size: 14px; font-weight: 600; color: inherit; letter-spacing: 0; }
.cards .warning strong, .cards .error strong { color: var(--tone); }
small { color: var(--muted); font-weight: 400; font-size: 12.5px; font-variant-numeric: tabular-nums; }
figure { display: grid; grid-template-columns: minmax(0, 1fr); gap: 14px 32px; margin: 28px 0 0; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 16px; overflow: hidden; }
figure svg { display: block; width: 100%; height: auto; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(240px, 1fr)); gap: 12px 32px; margin: 12px 0 0; font-size: 14px; }
.facts .long { grid-column: span 2; }
#about { margin-top: 52px; padding-top: 20px; border-top: 1px solid var(--line); }
#about h2 { margin-top: 0; }
`;

const TABLES = `
.panel { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; margin: 12px 0 0; overflow: hidden; }
.empty { padding: 14px 16px; color: var(--muted); }
summary { cursor: pointer; }
summary > :is(h2, h3, h4) { display: inline; margin: 0; }
.fold { margin-top: 12px; padding: 10px 0; }
.fold > summary > :is(h2, h3) { font-size: 16px; }
.groups > details + details, .groups .frame { border-top: 1px solid var(--line); }
.groups > details > summary { display: grid; grid-template-columns: 10px minmax(0, 5fr) 4ch minmax(0, 7fr); gap: 2px 14px; padding: 7px 16px; font-size: 14px; }
.groups > details > summary::before { content: "\u25b8"; color: var(--muted); }
.groups > details[open] > summary::before { content: "\u25be"; }
.groups > details > summary:hover { background: var(--faint); }
.groups h3, .groups h4 { display: flex; font-size: 14px; font-weight: 600; overflow-wrap: anywhere; }
.groups h3 .icon, .groups h4 .icon { margin-top: .2em; }
summary .lead { font-size: 14px; }
.groups .n { text-align: right; font-variant-numeric: tabular-nums; }
.groups p { margin: 0; padding: 4px 16px 10px 54px; font-size: 14px; }
.more { margin: 0; padding: 9px 16px; border-top: 1px solid var(--line); color: var(--muted); font-size: 13px; }
.frame { display: grid; overflow-x: auto; scrollbar-color: var(--rim) transparent; }
.frame > * { grid-area: 1 / 1; }
.frame::after { content: ""; grid-area: 1 / 1; position: sticky; z-index: 3; right: 0; justify-self: end; width: 28px; opacity: 0; pointer-events: none; background: linear-gradient(to right, transparent, color-mix(in srgb, var(--ink) 24%, transparent)); animation: more linear both; animation-timeline: scroll(nearest inline); }
@keyframes more { from, 95% { opacity: 1; } to { opacity: 0; } }
.cards a:focus-visible, .frame:focus-visible { outline-offset: -2px; }
.tall { max-height: min(85vh, 900px); overflow-y: auto; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 13.5px; line-height: 1.4; font-variant-numeric: tabular-nums lining-nums; }
th, td { padding: 7px 12px; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); background: var(--surface); unicode-bidi: isolate; }
tbody > tr:last-child > * { border-bottom: 0; }
thead th { position: sticky; top: 0; z-index: 1; vertical-align: bottom; color: var(--muted); font-size: 12.5px; font-weight: 600; line-height: 1.25; background: var(--faint); }
thead th:first-child { z-index: 2; }
tr > :first-child { position: sticky; left: 0; padding-left: 16px; }
tr > :last-child { padding-right: 16px; }
tbody th { font-weight: 600; }
tbody tr:hover > * { background: var(--faint); }
tbody > tr > * { white-space: nowrap; }
tr > .w { white-space: normal; min-width: 26ch; }
tr > .n { text-align: right; }
thead > tr > .n { min-width: 12ch; }
code { font-family: ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, monospace; font-size: .9em; }
.zero { color: var(--muted); }
td > b, th > b, td > a > b, .cards b { font-weight: inherit; margin-left: .17em; }
td > i, th > i, td > a > i { visibility: hidden; font-style: normal; }
td > b[class], th > b[class] { display: inline-block; margin: 0; padding: 0 8px; border-radius: 999px; font-size: 12px; line-height: 19px; font-weight: 600; color: var(--tone); background: var(--tint); }
.paper { display: none; }
.story thead, table:has(thead th:only-child) thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
tbody th:only-child { font-weight: 400; }
.story tr > :nth-child(n) { border: 0; background: none; }
.story tr > th { width: 0; padding-right: 20px; color: var(--muted); font-weight: 400; white-space: nowrap; }
.story td { position: relative; padding-left: 20px; }
.story td::after { content: ""; position: absolute; left: 0; top: 0; bottom: 0; border-left: 2px solid var(--line); }
.story td::before { content: "" !important; position: absolute; z-index: 1; left: -4px; top: 12px; width: 10px; height: 10px; border-radius: 50%; background: var(--accent); border: 2px solid var(--surface); }
@media screen and (max-width: 900px) {
  th, td { padding-left: 8px; padding-right: 8px; }
  .cards { grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); }
}
`;

const PHONE = `
@media (max-width: 640px) {
  main { padding: 20px 16px 48px; }
  h1 { font-size: 22px; }
  .verdict { padding: 16px; gap: 12px; margin-top: 18px; }
  .verdict p { font-size: 18px; }
  .verdict > .icon { width: 26px; height: 26px; }
  .cards { grid-template-columns: 1fr 1fr; gap: 8px; }
  .cards li > * { padding: 10px 12px; }
  .cards strong { font-size: 19px; overflow-wrap: anywhere; }
  .facts { grid-template-columns: 1fr 1fr; gap: 10px 16px; }
  .scope { gap: 6px 20px; }
  h2.part { margin-top: 36px; }
  .groups > details > summary { grid-template-columns: 10px minmax(0, 1fr) 4ch; padding: 9px 12px; }
  .groups summary .lead { grid-column: 2; font-size: 13px; }
  .groups > :not([open]) > summary .lead { display: none; }
  .groups p { padding-left: 36px; }
}
@media screen and (max-width: 640px) {
  .frame { overflow: visible; max-height: none; }
  table, tbody { display: block; font-size: 14px; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tbody > tr { display: flex; flex-wrap: wrap; gap: 6px 16px; padding: 12px 16px; border-bottom: 1px solid var(--line); }
  tbody > tr:last-child { border-bottom: 0; }
  main tbody > tr > :nth-child(n) { position: static; flex: 1 0 auto; min-width: calc(50% - 8px); max-width: 100%; padding: 0; border: 0; background: none; text-align: left; white-space: normal; overflow-wrap: anywhere; }
  main tbody > tr > :first-child { flex-basis: 100%; font-size: 15px; }
  main tbody > tr > :empty, main tbody > tr > .zero { display: none; }
  .story tbody > tr { display: block; padding: 2px 16px 2px 18px; border: 0; }
  main .story tbody > tr > :nth-child(n) { display: block; width: auto; padding: 2px 0 2px 18px; font-size: 14px; border-left: 2px solid var(--line); }
  main .story tbody > tr > :first-child { font-size: 12.5px; }
  main tbody > tr > :only-child { font-size: 14px; }
  main tbody > tr > ::before { content: attr(data-label); }
  tbody > tr > ::before { display: block; color: var(--muted); font-size: 12px; font-weight: 400; line-height: 1.3; }
  .story tbody > tr > :nth-child(n)::before, main tbody > tr > :only-child::before { display: none; }
  .story td::after, td > i, th > i, td > a > i { display: none; }
  section:has(.zero):not(:has(> details:not([open]) .zero))::after { content: "Zeros are left out."; display: block; color: var(--muted); font-size: 13px; margin-top: 8px; }
}
`;

const CHARTS = `
.chart strong { font-size: 15px; font-weight: 650; }
.chart p { color: var(--muted); font-size: 13px; margin: 2px 0 0; }
.chart ul { list-style: none; display: flex; flex-wrap: wrap; gap: 3px 16px; margin: 10px 0 0; padding: 0; font-size: 13px; }
.chart li svg { display: inline-block; width: 12px; height: 12px; margin-right: 7px; vertical-align: -1px; }
.chart li b { font-weight: 600; font-variant-numeric: tabular-nums; }
.chart .patterns { position: absolute; width: 0; height: 0; }
.chart :is(.good, .info, .warning, .error) { fill: var(--edge); }
.chart .neutral, .plots .muted { fill: var(--muted); }
.plots { color: var(--ink); min-width: 0; }
.plots svg { fill: currentColor; font-family: inherit; font-variant-numeric: tabular-nums; overflow: visible; }
.plots text { paint-order: stroke; stroke: var(--surface); stroke-width: 3px; stroke-linejoin: round; }
.plots .line { stroke: var(--line); }
.plots .mark { stroke: currentColor; fill: none; }
.plots .narrow { display: none; }
.many { display: grid; grid-template-columns: 1fr 1fr; gap: 12px 24px; }
@media (min-width: 1000px) {
  .chart { grid-template-columns: 240px minmax(0, 1fr); }
  .chart ul { display: block; }
}
@media screen and (max-width: 700px) {
  .chart .wide { display: none; }
  .chart .narrow { display: block; max-width: 460px; }
  .many { grid-template-columns: minmax(0, 1fr); }
}
`;

const PRINT = `
@page { size: A4 landscape; margin: 13mm 12mm 15mm;
  @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; color: #566071; }
  @bottom-left { font: 8pt sans-serif; color: #566071; } }
@media print {
  :root { color-scheme: light; }
  body { background: none; zoom: .7; }
  main { max-width: none; padding: 0; }
  h1, h2, h3, h4, .lead { break-after: avoid; }
  p, li, summary, tr, .facts div { break-inside: avoid; }
  .verdict, .cards li, figure { break-inside: avoid; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .plots { max-width: 200mm; }
  figure { border: 0; padding: 0; }
  .panel { overflow: visible; border: 0; border-radius: 0; }
  .groups > details > summary { grid-template-columns: minmax(0, 5fr) 4ch minmax(0, 7fr); padding: 3px 0 0; break-after: avoid; }
  :is(.groups > details, #about > details)::details-content { content-visibility: visible; block-size: auto; }
  .groups p { padding: 0; font-size: 13px; break-after: avoid; }
  h2.part, #about { margin-top: 16px; padding-top: 8px; }
  .groups .frame, .more { border-top: 0; }
  .frame { display: block; overflow: visible; max-height: none; }
  .paper { display: block; }
  summary .paper { display: inline; }
  [open] > summary .paper { display: none; }
  .screen, .frame::after, .groups > details > summary::before, .groups > :not(:first-child) thead { display: none; }
  th, td { padding: 3px 6px; background: none; min-width: 0; }
  tr > :first-child { position: static; padding-left: 0; }
  tr > :last-child { padding-right: 0; }
  thead { display: table-header-group; }
  thead th { position: static; background: none; border-bottom: 1px solid var(--rim); }
  td > b[class], th > b[class], .story td::before { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .facts { grid-template-columns: repeat(8, 1fr); gap: 6px 16px; font-size: 12px; }
}
`;

export const STYLE = `${COLORS}${PAGE}${TABLES}${CHARTS}${PHONE}${PRINT}`;
