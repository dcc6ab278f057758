export const LISTS = `
.list { max-width: 1600px; margin: 0 auto; }
.filter { display: flex; flex-wrap: wrap; align-items: end; gap: 10px 14px; margin: 14px 0; }
.filter label { display: grid; gap: 3px; color: var(--muted); font-size: 13px; min-width: 0; }
.filter input { width: 18ch; }
.list .panel.class { padding: 12px 16px; margin: 0 0 14px; }
.pages { display: flex; gap: 20px; margin: 14px 0; padding: 0; border: 0; background: none; font-weight: 600; }
.export { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 10px; max-width: none; }
.copy { padding: 1px 8px; font-size: 12px; margin-left: 8px; }
.list td > .copy, .list th > .copy { border-color: transparent; background: none; color: var(--muted); font-weight: 400; margin-left: 2px; }
.id code, .command code, .export code { overflow-wrap: anywhere; unicode-bidi: isolate; }
.id { margin: 12px 0 0; }
.actions form + p { margin-top: 14px; }
.story-page .actions { margin-top: 24px; }
.story-page .actions h2 { margin-top: 0; }
.command { display: flex; flex-wrap: wrap; align-items: center; gap: 4px; }
@media (max-width: 640px) {
  .filter label { flex: 1 1 45%; }
  .filter :is(input, select) { width: 100%; }
}
`;
