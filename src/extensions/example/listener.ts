import type { Listen } from '../../orders/pass/process-events.ts';

/** Logs how many statuses were new while the process owned an account. The account waits for `hear`. */
export const countNewStatuses: Listen = async ({ account, log }) => {
  let statuses = 0;
  return {
    hear(event) {
      if (event.kind === 'status.new') statuses += 1;
    },
    close: () => log.info({ account, statuses }, 'statuses that were not seen before'),
  };
};
