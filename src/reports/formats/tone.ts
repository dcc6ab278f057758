import type { Cell, CellKind, Tone } from './document.ts';

const TONES: Readonly<Record<string, Readonly<Record<string, Tone>>>> = {
  severity: { error: 'error', warning: 'warning', info: 'info' },
  state: {
    pending: 'neutral',
    sending: 'neutral',
    accepted: 'info',
    open: 'info',
    final: 'good',
    unknown: 'warning',
    held: 'error',
    disputed: 'error',
    rejected: 'warning',
    invalid: 'warning',
    cancelled: 'neutral',
    abandoned: 'neutral',
  },
  outcome: { succeeded: 'good', failed: 'warning', open: 'info', disputed: 'error', outcome_unknown: 'neutral' },
};

/** The tone of a value of a kind that has tones; `neutral` of every other. The same value has the same tone in every form. */
export function toneOf(kind: CellKind, value: Cell): Tone {
  const tones = TONES[kind];
  return (tones !== undefined && Object.hasOwn(tones, String(value)) ? tones[String(value)] : undefined) ?? 'neutral';
}
