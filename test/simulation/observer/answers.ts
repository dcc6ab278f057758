import type { HttpResponse } from '../../../src/exchange/transport/http.ts';
import type { Plan } from '../plan/plan.ts';
import type { Ended } from './requests.ts';

/** The proof in an answer to a create, by the rule of the design, written down a second time. */
export function verdictOf(
  { response, sent }: Ended,
  { settings }: Pick<Plan, 'settings'>,
): 'not-taken' | 'refused' | 'unknown' {
  if (sent === 'never') return 'not-taken';
  if (response === undefined) return 'unknown';
  const { status } = response;
  if (status === 429 || status === 401 || (status === 403 && isDocumented(response))) return 'not-taken';
  const isRefusal = [400, 404, 422].includes(status);
  return isRefusal && (isDocumented(response) || settings.refusedBy === 'status') ? 'refused' : 'unknown';
}

/** Tells whether an answer to a look-up is documented absence, or of a shape that the merchant has confirmed. */
export function provesAbsence({ response }: Ended, { settings }: Pick<Plan, 'settings'>): boolean {
  if (response === undefined || /"order"\s*:\s*[{[]/.test(response.body)) return false;
  if (response.status === 404 && isDocumented(response)) return true;
  return settings.absence.some(({ status, value }) => {
    if (status !== response.status) return false;
    return value === undefined || value === response.body.trim();
  });
}

/** The statuses that a body names. */
export function statusesIn({ response }: Ended): readonly string[] {
  const named = (response?.body ?? '').matchAll(/"status":(?:"([^"]*)"|(\d+))/g);
  return [...named].map(([, text, digits]) => text ?? digits ?? '');
}

/** The ids that a body names. */
export function idsIn({ response }: Ended): readonly string[] {
  return [...(response?.body ?? '').matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id ?? '');
}

/** The error of the interface: a message and a code. */
function isDocumented({ body }: HttpResponse): boolean {
  try {
    const { message, code } = JSON.parse(body) as Readonly<Record<string, unknown>>;
    return typeof message === 'string' && ['string', 'number'].includes(typeof code);
  } catch {
    return false;
  }
}
