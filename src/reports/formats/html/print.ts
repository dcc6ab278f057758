/** The style on paper. Colours stay where they say something; nothing scrolls, and no row is split. */
export const PRINT = `
@page { size: A4 landscape; margin: 13mm 12mm 15mm;
  @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; color: #566071; }
  @bottom-left { font: 8pt sans-serif; color: #566071; } }
@media print {
  body { background: none; font-size: 9pt; }
  main { max-width: none; padding: 0; }
  h1 { font-size: 17pt; }
  h1, h2, h3, h4, .lead, .head { break-after: avoid; }
  h2.part { font-size: 13pt; margin-top: 14pt; padding-top: 8pt; }
  h2, h3 { font-size: 11pt; margin-top: 14pt; }
  h4, .head > :first-child { font-size: 9.5pt; margin: 0; }
  .panel + .panel { margin-top: 10pt; }
  p, li, .head { break-inside: avoid; }
  nav { margin-top: 10pt; gap: 6pt 24pt; break-inside: avoid; }
  nav ul, nav h2 { font-size: 8pt; }
  nav h2 { margin: 0 0 2pt; }
  .verdict, .cards li, figure { break-inside: avoid; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .verdict { margin-top: 12pt; padding: 10pt 12pt; }
  .verdict p { font-size: 13pt; }
  .verdict .first { font-size: 9pt; margin-top: 6pt; padding-top: 6pt; }
  .verdict > .icon { width: 22pt; height: 22pt; }
  .cards { gap: 6pt; margin-top: 8pt; }
  .cards li > * { padding: 6pt 8pt; }
  .cards strong { font-size: 13pt; }
  .plots { max-width: 150mm; }
  .chart { grid-template-columns: 55mm minmax(0, 1fr); }
  .chart strong { font-size: 10pt; }
  .chart p, .chart ul { font-size: 8pt; }
  .plots text { stroke: #fff; }
  .plots svg { max-height: 95mm; }
  figure { border: 0; padding: 0; margin-top: 12pt; }
  .panel { overflow: visible; border: 0; border-radius: 0; margin-top: 4pt; }
  .panel.info, .panel.good, .panel.warning, .panel.error { border-left: 0; }
  .head { padding: 3pt 0 3pt 6pt; border-left: 2.5pt solid var(--edge); break-inside: avoid; }
  .neutral > .head { border: 0; padding-left: 0; }
  .head p { font-size: 8.5pt; line-height: 1.35; margin: 0; }
  .head + .frame { margin-top: 3pt; }
  .head + .frame, .more { border-top: 0; }
  .more { padding: 2pt 0; }
  .frame { overflow: visible; max-height: none; }
  .paper { display: block; }
  tr > .screen { display: none; }
  table { font-size: 7.5pt; line-height: 1.3; }
  th, td { padding: 2pt 4pt; background: none; min-width: 0; }
  tr > :first-child { position: static; padding-left: 0; }
  tr > :last-child { padding-right: 0; }
  thead { display: table-header-group; }
  thead th { position: static; font-size: 7pt; background: none; border-bottom: 1pt solid var(--neutral-edge); }
  tr { break-inside: avoid; }
  td > b[class], th > b[class] { font-size: 7pt; line-height: 10pt; padding: 0 4pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .story td { padding-left: 12pt; }
  .story td::before { top: 3pt; width: 5pt; height: 5pt; left: -1.6pt; border: 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .facts { font-size: 8pt; gap: 6pt 16pt; grid-template-columns: repeat(6, 1fr); }
  .facts div { break-inside: avoid; }
  dt, small, .note, .cards span, .cards li small { font-size: 7.5pt; }
  .cards strong small { font-size: 9pt; }
}
`;
