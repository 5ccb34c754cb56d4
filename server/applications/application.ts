/** How an application searches (maxkb-v1-api.md section 6). */
export interface DatasetSetting {
  /** Paragraphs a query (R123). */
  top_n: number;
  /** Strict lower bound of the vector leg (R122). */
  similarity: number;
  search_mode: 'embedding' | 'keywords' | 'blend';
  no_references_setting: { status: 'ai_questioning' | 'designated_answer'; value: string };
}

export interface ModelSetting {
  system: string;
  /** May hold `{data}` and `{question}`; empty: the built-in prompt. */
  prompt: string;
  reasoning_content_enable: boolean;
}

/** What an answer needs to know of the application it belongs to. */
export interface Application {
  id: string;
  name: string;
  desc: string;
  prologue: string;
  dialogueNumber: number;
  datasetSetting: DatasetSetting;
  modelSetting: ModelSetting;
  datasetIds: string[];
  createTime: Date;
  updateTime: Date;
}

/** An absent `dialogue_number` counts as five rounds (R52). */
export const DEFAULT_DIALOGUE_NUMBER = 5;

/** New applications search by blend, which is keywords where a dataset has no vectors (R122). */
export const DEFAULT_DATASET_SETTING: DatasetSetting = {
  top_n: 5,
  similarity: 0.3,
  search_mode: 'blend',
  no_references_setting: { status: 'ai_questioning', value: '{question}' },
};

export const DEFAULT_MODEL_SETTING: ModelSetting = { system: '', prompt: '', reasoning_content_enable: false };
