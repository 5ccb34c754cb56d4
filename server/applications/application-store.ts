import { v7 as uuidv7 } from 'uuid';
import { LOCAL_USER_ID } from '../accounts/local-user.ts';
import type { Database } from '../database/database.ts';
import { storableJson, storableText } from '../text/storable.ts';
import {
  type Application,
  DEFAULT_DATASET_SETTING,
  DEFAULT_DIALOGUE_NUMBER,
  DEFAULT_MODEL_SETTING,
} from './application.ts';

/** An application that exists without anybody having made it: one for everything, one for each folder. */
export type BuiltInApplication = { kind: 'all'; name: string } | { kind: 'folder'; name: string; folder: string };

const APPLICATION_COLUMNS = `a.id, a.name, a."desc", a.prologue, a.dialogue_number as "dialogueNumber",
  a.dataset_setting as "datasetSetting", a.model_setting as "modelSetting", a.create_time as "createTime",
  a.update_time as "updateTime", array(select m.dataset_id::text from max_kb_application_dataset_mapping m
  where m.application_id = a.id order by m.dataset_id) as "datasetIds"`;

/** Applications in the database. */
export class ApplicationStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(applicationId: string): Promise<Application | null> {
    const [row] = await this.#database.query<Application>(
      `select ${APPLICATION_COLUMNS} from max_kb_application a where a.id = $1`,
      [applicationId],
    );
    return row ? withDefaults(row) : null;
  }

  /** Newest first, the one for everything before all. */
  async list(): Promise<Application[]> {
    const rows = await this.#database.query<Application>(
      `select ${APPLICATION_COLUMNS} from max_kb_application a
       order by (a.meta ? 'all') desc, a.create_time desc, a.id desc`,
    );
    return rows.map(withDefaults);
  }

  /** Creates the application where it is missing. Returns its id. */
  async ensureBuiltIn(application: BuiltInApplication): Promise<string> {
    const meta = application.kind === 'all' ? { all: true } : { folder: application.folder };
    await this.#database.query(
      `insert into max_kb_application (id, user_id, name, dialogue_number, dataset_setting, model_setting, meta)
       values ($1, $2, left($3, 128), $4, $5, $6, $7) on conflict do nothing`,
      [
        uuidv7(),
        LOCAL_USER_ID,
        storableText(application.name),
        DEFAULT_DIALOGUE_NUMBER,
        storableJson(DEFAULT_DATASET_SETTING),
        storableJson(DEFAULT_MODEL_SETTING),
        storableJson(meta),
      ],
    );
    const [row] = await this.#database.query<{ id: string }>(
      'select id from max_kb_application where meta @> $1::jsonb',
      [storableJson(meta)],
    );
    if (!row) throw new Error(`The application ${application.name} could not be created.`);
    return row.id;
  }

  async bindDataset(applicationId: string, datasetId: string): Promise<void> {
    await this.#database.query(
      'insert into max_kb_application_dataset_mapping (application_id, dataset_id) values ($1, $2) on conflict do nothing',
      [applicationId, datasetId],
    );
  }
}

/** Settings that a stored row leaves out take their defaults. */
function withDefaults(row: Application): Application {
  return {
    ...row,
    datasetSetting: { ...DEFAULT_DATASET_SETTING, ...row.datasetSetting },
    modelSetting: { ...DEFAULT_MODEL_SETTING, ...row.modelSetting },
  };
}
