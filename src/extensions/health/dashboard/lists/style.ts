export const LISTS = `
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
@media (max-width: 640px) {
  .filter label { flex: 1 1 45%; }
  .filter :is(input, select) { width: 100%; }
}
`;
