import { STYLE } from '../../documents/html/style.ts';

export const DASHBOARD_STYLE = `${STYLE}
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; z-index: 9; padding: 8px 12px; background: var(--surface); }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 10px 28px; padding: 12px 32px; background: var(--surface); border-bottom: 1px solid var(--line); }
.home { font-size: 17px; font-weight: 650; letter-spacing: -.01em; color: var(--ink); }
#program { margin: 0; display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: center; color: var(--muted); font-size: 13px; font-variant-numeric: tabular-nums; flex: 1 1 360px; }
.bar form { display: flex; align-items: center; gap: 8px; min-width: 0; }
.bar label { color: var(--muted); font-size: 13px; }
input, select, button { font: inherit; font-size: 14px; color: var(--ink); background: var(--page); border: 1px solid var(--rim); border-radius: 7px; padding: 5px 10px; min-width: 0; max-width: 100%; }
.bar input { width: 22ch; }
.bar select { max-width: 22ch; }
button { font-weight: 600; background: var(--surface); cursor: pointer; }
button:hover { background: var(--faint); }
#connection { margin: 0; color: var(--tone); font-size: 13px; font-weight: 600; }
#connection:empty { display: none; }
code { font-family: ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, monospace; font-size: 12.5px; }
main { max-width: 1760px; padding: 20px 32px 64px; }
.board { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 26px 28px; align-items: start; }
.board > .wide { grid-column: 1 / -1; }
.board h2 { font-size: 16px; margin: 0 0 8px; }
.board .panel, .board .cards, .board .verdict { margin-top: 0; }
.board .verdict { padding: 18px 22px; }
.verdict > div, .needs li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 10px 24px; }
.board .what { flex: 1 1 420px; min-width: 0; }
.verdict h1 { font-size: 22px; line-height: 1.3; color: var(--tone); overflow-wrap: anywhere; text-wrap: wrap; }
.verdict .what p { font-size: 14px; line-height: 1.5; font-weight: 400; color: var(--ink); margin-top: 5px; }
.what p { display: flex; flex-wrap: wrap; gap: 0 18px; overflow-wrap: anywhere; }
.stake { font-variant-numeric: tabular-nums; }
.todo { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; max-width: 100%; }
.board .todo p { flex: 0 1 auto; margin: 0; font-size: 14px; line-height: 1.45; font-weight: 400; color: var(--ink); max-width: 60ch; }
.todo > a { padding: 5px 12px; font-size: 14px; font-weight: 600; color: var(--accent); background: var(--surface); border: 1px solid var(--rim); border-radius: 7px; }
.board .todo > a { text-decoration: none; }
.todo > a:hover { background: var(--faint); }
[data-copy] { padding: 5px 9px; background: var(--surface); border: 1px solid var(--line); border-radius: 7px; max-width: 100%; overflow-wrap: break-word; user-select: all; }
.copy { padding: 3px 9px; font-size: 13px; }
:not(.todo) > .copy { margin-left: 8px; }
.tiles { grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); }
.tiles strong { font-size: 19px; }
.needs { list-style: none; margin: 0; padding: 0; display: grid; gap: 8px; }
.needs li { padding: 11px 16px; background: var(--surface); border: 1px solid var(--line); border-left: 4px solid var(--edge); border-radius: 10px; }
.needs h3 { display: block; margin: 0; font-size: 14.5px; overflow-wrap: anywhere; }
.needs .what p { margin: 2px 0 0 1.55em; font-size: 13.5px; color: var(--muted); }
.needs .stake { color: var(--ink); }
.needs [data-copy] { background: var(--faint); }
details .needs { margin-top: 8px; }
summary { width: max-content; margin-top: 8px; padding: 4px 2px; color: var(--accent); font-size: 14px; font-weight: 600; cursor: pointer; }
.titled { margin-bottom: 6px; font-size: 14px; display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 2px 20px; }
.titled p { margin: 0; }
.ranges { gap: 2px; margin: 0; font-size: 13px; }
.ranges a { padding: 3px 10px; border: 1px solid transparent; border-radius: 7px; }
.ranges [aria-current] { color: var(--ink); font-weight: 600; background: var(--surface); border-color: var(--rim); }
.states { padding: 14px 16px; }
.states ul { list-style: none; display: grid; grid-template-columns: repeat(auto-fill, minmax(205px, 1fr)); gap: 8px 20px; margin: 12px 0 0; padding: 0; }
.states li { padding-left: 20px; line-height: 1.35; }
.states li :is(a, span) { color: var(--ink); }
.states strong { font-size: 17px; font-variant-numeric: tabular-nums; }
.states li svg { width: 12px; height: 12px; margin: 0 8px 0 -20px; }
.states small { display: block; }
.states strong small { display: inline; }
.strip { display: block; width: 100%; height: 24px; border-radius: 5px; }
.strip a:hover path { opacity: .8; }
[class|="state"] { fill: light-dark(#7a8597, #8592a5); }
.state-sending { fill: light-dark(#a9b3c1, #5d6979); }
.state-accepted { fill: light-dark(#7fa8ec, #39609f); }
.state-open { fill: light-dark(#2f63c4, #6f9cf0); }
.state-final { fill: light-dark(#2f9e5f, #37a866); }
.state-unknown { fill: light-dark(#c27803, #c98a1c); }
.state-held { fill: light-dark(#d3413b, #d9534d); }
.state-disputed { fill: light-dark(#8f1d4e, #e070a6); }
.state-rejected { fill: light-dark(#8a6d3b, #a58a55); }
.state-invalid { fill: light-dark(#e3a94f, #7d5a1d); }
.state-cancelled { fill: light-dark(#cfd5de, #454f5d); }
.state-abandoned { fill: light-dark(#434c59, #b9c1cd); }
.board .chart { grid-template-columns: minmax(0, 1fr); margin: 0; }
.board .chart :is(p, strong) { display: inline; font-size: 13.5px; margin-right: 8px; }
.board .chart ul { display: flex; }
.events { list-style: none; padding: 4px 0; max-height: 590px; overflow-y: auto; font-size: 13.5px; }
.events li { display: flex; gap: 14px; padding: 4px 16px; line-height: 1.45; }
#events a, .titled p a, .note a, .what a { text-decoration: underline; text-underline-offset: 3px; }
.events li > span { min-width: 0; overflow-wrap: anywhere; }
.events .when { flex: 0 0 15ch; color: var(--muted); font-variant-numeric: tabular-nums; white-space: nowrap; }
li > b[class], p > b[class], span > b[class] { display: inline-block; padding: 0 8px; border-radius: 999px; font-size: 12px; line-height: 19px; font-weight: 600; color: var(--tone); background: var(--tint); overflow-wrap: anywhere; }
b:not([class]) { font-weight: inherit; margin-left: .17em; }
time { font-variant-numeric: tabular-nums; white-space: nowrap; }
td small, td time + small { white-space: nowrap; }
.story-page { max-width: 1240px; margin: 0 auto; }
.actions { margin-top: 40px; }
.actions form { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 10px 16px; align-items: end; padding: 14px 16px; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; margin-top: 10px; }
.actions form > strong { grid-column: 1 / -1; }
.actions label { display: grid; gap: 3px; color: var(--muted); font-size: 13px; }
.actions label.check { display: flex; gap: 8px; align-items: center; }
.actions button { justify-self: start; }
.filter { display: flex; flex-wrap: wrap; align-items: end; gap: 10px 14px; margin: 14px 0; }
.filter label { display: grid; grid-template-rows: auto 1fr; align-self: stretch; gap: 3px; color: var(--muted); font-size: 13px; min-width: 0; }
.filter input { width: 18ch; }
.list .class { padding: 12px 16px; margin: 0 0 14px; }
.pages { display: flex; gap: 20px; margin: 14px 0; font-weight: 600; }
th > a[data-copy] { padding: 0; border: 0; background: none; user-select: auto; }
th > .copy { padding: 1px 8px; border-color: transparent; background: none; color: var(--muted); font-size: 12px; font-weight: 400; }
code[data-copy] { display: inline-block; max-width: max(100% - 96px, min(100%, 280px)); overflow-wrap: break-word; unicode-bidi: isolate; }
.id { margin: 12px 0 0; }
.story-page .actions { margin-top: 24px; }
.actions form + p { margin-top: 14px; }
@media (max-width: 1100px) {
  .board { grid-template-columns: minmax(0, 1fr); }
  .events { max-height: 420px; }
}
@media (max-width: 640px) {
  .filter label { flex: 1 1 45%; }
  .filter :is(input, select) { width: 100%; }
  .bar { padding: 10px 16px; gap: 8px 16px; }
  .bar form { flex: 1 1 100%; }
  #program span:not(.badge, :last-child) { display: none; }
  .bar input { flex: 1; width: auto; }
  main { padding: 14px 16px 48px; }
  .states ul { grid-template-columns: 1fr 1fr; gap: 8px 12px; }
  .events li { flex-wrap: wrap; gap: 0 12px; padding: 6px 16px; }
  #money::after { content: none !important; }
}
@media (min-width: 2400px) {
  main { max-width: 2600px; }
  body { zoom: 1.4; }
}
@media print {
  .bar form, .bar > a:not(.home), .ranges, .copy, #connection { display: none; }
  .bar { padding: 0 0 8px; background: none; }
  .board { gap: 16px; }
  .events { max-height: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .needs li, .states { break-inside: avoid; }
  .strip, .states svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
