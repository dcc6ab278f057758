import { PostgresAdapter, PostgresQueryCompiler } from 'kysely';
import { MIGRATIONS } from '../../../migrations/postgres/index.ts';
import { keepsMigrations } from '../../support/migration-hash.ts';

keepsMigrations(MIGRATIONS, new PostgresAdapter(), new PostgresQueryCompiler());
