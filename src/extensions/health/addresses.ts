import { STATUS } from '../api/addresses.ts';
import type { ReadAddress } from '../api/operation.ts';

export const HEALTH_OPERATIONS = {
  status: { ...STATUS, read: async () => (await import('./operations.ts')).OPERATIONS.status },
} as const satisfies Readonly<Record<string, ReadAddress>>;
