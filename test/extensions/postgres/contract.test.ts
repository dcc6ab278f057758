import { openMerchant } from '../../support/merchant-postgres.ts';
import { openPostgresStore } from '../../support/postgres-store.ts';
import { storeContract } from '../../store/contract.ts';

storeContract('PostgreSQL', async () => {
  const { database, store } = await openPostgresStore();
  const merchant = openMerchant(database);
  return {
    store,
    run: (sql) => void merchant.exec(sql),
    [Symbol.asyncDispose]: async () => void merchant.close(),
  };
});
