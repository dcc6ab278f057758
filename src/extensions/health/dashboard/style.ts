import { STYLE } from '../../documents/html/style.ts';
import { LISTS } from './lists/style.ts';

const FRAME = `
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; z-index: 9; padding: 8px 12px; background: var(--surface); }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 10px 28px; padding: 12px 32px; background: var(--surface); border-bottom: 1px solid var(--line); }
.home { font-size: 17px; font-weight: 650; letter-spacing: -.01em; color: var(--ink); margin-right: auto; }
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
`;

const BOARD = `
main { max-width: 1760px; padding: 20px 32px 64px; }
.board { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 26px 28px; align-items: start; }
.board > .wide { grid-column: 1 / -1; }
.board h2 { font-size: 16px; margin: 0 0 8px; }
.board h3 { font-size: 14px; margin: 14px 0 0; }
.board .panel, .board .cards, .board .verdict { margin-top: 0; }
.board h3 + .panel { margin-top: 6px; }
.board .verdict { align-items: center; padding: 14px 20px; }
.board .verdict > div { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 2px 20px; }
.tiles { grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); }
.tiles strong, .states strong { font-size: 19px; }
.states li > div { padding: 11px 14px; }
.needs { list-style: none; margin: 0; padding: 0; display: grid; gap: 8px; }
.needs li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 8px 24px; padding: 11px 16px; background: var(--surface); border: 1px solid var(--line); border-left: 4px solid var(--edge); border-radius: 10px; }
.needs .what { flex: 1 1 420px; min-width: 0; }
.needs h3 a { color: inherit; text-decoration: underline; text-underline-offset: 3px; }
.needs h3 { display: block; margin: 0; font-size: 14.5px; }
.needs p { margin: 1px 0 0; font-size: 13.5px; color: var(--muted); overflow-wrap: anywhere; }
.needs .age { font-weight: 400; font-size: 12.5px; color: var(--muted); margin-left: 8px; }
.needs code { padding: 5px 9px; background: var(--faint); border: 1px solid var(--line); border-radius: 7px; max-width: 100%; overflow-wrap: anywhere; user-select: all; }
.needs .more { color: var(--muted); font-size: 13px; border-left-color: var(--line); }
.board .chart { grid-template-columns: minmax(0, 1fr); margin: 0; }
.board .chart :is(p, strong) { display: inline; font-size: 13.5px; margin-right: 8px; }
.board .chart ul { display: flex; }
.board > #events { grid-row: span 3; }
.events { list-style: none; padding: 4px 0; max-height: 590px; overflow-y: auto; font-size: 13.5px; }
.events li { display: flex; gap: 14px; padding: 4px 16px; line-height: 1.45; }
.events a { text-decoration: underline; text-underline-offset: 3px; }
.events li > span { min-width: 0; overflow-wrap: anywhere; }
.events .when { flex: 0 0 12.5ch; color: var(--muted); font-variant-numeric: tabular-nums; white-space: nowrap; }
li > b[class], span > b[class] { display: inline-block; padding: 0 8px; border-radius: 999px; font-size: 12px; line-height: 19px; font-weight: 600; color: var(--tone); background: var(--tint); overflow-wrap: anywhere; }
.meter { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 18px; font-size: 13.5px; font-variant-numeric: tabular-nums; margin-bottom: 10px; }
meter { flex: 1 1 160px; height: 14px; }
.classes { list-style: none; padding: 6px 0; font-size: 13.5px; }
.classes li { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 12px; padding: 6px 16px; }
.classes li > span { flex: 1 1 420px; min-width: 0; }
.classes span b { font-weight: 600; }
.classes + .panel { margin-top: 12px !important; }
strong b { font-weight: inherit; margin-left: .17em; }
time { font-variant-numeric: tabular-nums; white-space: nowrap; }
td small, td time + small { white-space: nowrap; }
`;

const PAGES = `
.story-page { max-width: 1240px; margin: 0 auto; }
.actions { margin-top: 40px; }
.actions form { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 10px 16px; align-items: end; padding: 14px 16px; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; margin-top: 10px; }
.actions form > strong { grid-column: 1 / -1; }
.actions label { display: grid; gap: 3px; color: var(--muted); font-size: 13px; }
.actions label.check { display: flex; gap: 8px; align-items: center; }
.actions button { justify-self: start; }
`;

const SIZES = `
@media (max-width: 1100px) {
  .board { grid-template-columns: minmax(0, 1fr); }
  .board > #events { grid-row: span 1; }
  .events { max-height: 420px; }
  .states { grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); }
}
@media (max-width: 640px) {
  .bar { padding: 10px 16px; gap: 8px 16px; }
  .bar form { flex: 1 1 100%; }
  .bar input { flex: 1; width: auto; }
  main { padding: 14px 16px 48px; }
  .states { grid-template-columns: 1fr 1fr; }
  .events li { flex-wrap: wrap; gap: 0 12px; padding: 6px 16px; }
  #findings:has(.zero)::after, #ageing::after, #requests::after, #money::after { content: none !important; }
}
@media (min-width: 2400px) {
  .board { grid-template-columns: repeat(4, minmax(0, 1fr)); }
  .board > #events { grid-row: span 1; }
  .board .needs { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .events { max-height: 320px; }
  .states { grid-template-columns: repeat(12, minmax(0, 1fr)); }
  main { max-width: 2600px; }
  body { zoom: 1.4; }
}
`;

export const DASHBOARD_STYLE = `${STYLE}${FRAME}${BOARD}${PAGES}${LISTS}${SIZES}`;
