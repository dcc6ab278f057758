import { SqliteAdapter, SqliteQueryCompiler } from 'kysely';
import { MIGRATIONS } from '../../migrations/index.ts';
import { keepsMigrations } from '../support/migration-hash.ts';

keepsMigrations(MIGRATIONS, new SqliteAdapter(), new SqliteQueryCompiler());
