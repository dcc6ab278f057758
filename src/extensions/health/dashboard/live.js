// Loads the page of the dashboard again at each event and every 5 s, and replaces the parts that have changed.
const LEAST_MS = 1_000;
const MOST_MS = 5_000;
const FOCUSABLE = 'a, button, summary, [tabindex]';

const live = [...document.querySelectorAll('[data-live]')].map(({ id }) => id);
const connection = document.getElementById('connection');
let [last, answered, planned, timer] = [Date.now(), Date.now(), Number.POSITIVE_INFINITY, 0];

function plan(ms) {
  const at = Math.max(Date.now() + ms, last + LEAST_MS);
  if (at >= planned) return;
  clearTimeout(timer);
  planned = at;
  timer = setTimeout(() => void refresh(), at - Date.now());
}

async function refresh() {
  [last, planned] = [Date.now(), Number.POSITIVE_INFINITY];
  try {
    if (!document.hidden) await replaceParts();
    answered = Date.now();
    connection.textContent = '';
  } catch {
    connection.textContent = `No answer from order-sync since ${new Date(answered).toISOString().slice(11, 19)} UTC`;
  }
  last = Date.now();
  plan(MOST_MS);
}

async function replaceParts() {
  const response = await fetch(location.href, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(String(response.status));
  // The answer is a page of this server, which escapes its texts. `DOMParser` runs no scripts.
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  const parts = live.map((id) => [document.getElementById(id), next.getElementById(id)]);
  // All parts must show the same moment. While text is selected in one part, no part is replaced.
  if (parts.some((pair) => pair.includes(null)) || parts.some(([shown]) => isSelected(shown))) return;
  document.title = next.title;
  for (const [shown, newer] of parts) replacePart(shown, newer);
}

function replacePart(shown, newer) {
  addCopyButtons(newer);
  shown.hidden = newer.hidden;
  if (shown.innerHTML === newer.innerHTML) return;
  const places = [...shown.querySelectorAll('[tabindex]')].map(({ scrollTop, scrollLeft }) => [scrollTop, scrollLeft]);
  const isOpen = shown.querySelector('details')?.open ?? false;
  const focused = [...shown.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  shown.replaceChildren(...newer.childNodes);
  for (const folded of shown.querySelectorAll('details')) folded.open = isOpen;
  for (const [index, box] of shown.querySelectorAll('[tabindex]').entries()) {
    [box.scrollTop, box.scrollLeft] = places[index] ?? [0, 0];
  }
  shown.querySelectorAll(FOCUSABLE)[focused]?.focus({ preventScroll: true });
}

function addCopyButtons(part) {
  if (navigator.clipboard === undefined) return;
  for (const text of part.querySelectorAll('[data-copy]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    text.after(button);
  }
}

async function copy(button) {
  const { dataset, textContent } = button.previousElementSibling;
  await navigator.clipboard.writeText(dataset.copy || textContent);
  button.textContent = 'Copied';
}

function isSelected(part) {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && part.contains(selection.anchorNode);
}

const choice = document.getElementById('account');
choice?.addEventListener('change', () => choice.form.submit());

/** Listens for events only while the page is visible, because a browser opens few connections to a server. */
function listen() {
  const { account, events = '' } = document.body.dataset;
  if (account === undefined) return;
  let source;
  const toggle = () => {
    source?.close();
    source = document.hidden ? undefined : new EventSource(`/events?${new URLSearchParams({ account })}`);
    for (const type of events.split(' ')) source?.addEventListener(type, () => plan(0));
    if (!document.hidden) plan(0);
  };
  document.addEventListener('visibilitychange', toggle);
  toggle();
}

addCopyButtons(document);
document.addEventListener('click', ({ target }) => target.matches('.copy') && void copy(target));

if (live.length > 0) {
  listen();
  plan(MOST_MS);
}
