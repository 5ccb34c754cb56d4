-- Applications, conversations and their records (maxkb-v1-api.md sections 2.6, 2.7, 4 and 6).

create table if not exists max_kb_application (
  id uuid primary key,
  user_id uuid not null,
  name varchar(128) not null,
  "desc" varchar(512) not null default '',
  prologue varchar(40960) not null default '',
  -- Rounds of history carried along; 0 switches history off (R52, R69).
  dialogue_number int not null default 5,
  dataset_setting jsonb not null default '{}',
  model_setting jsonb not null default '{}',
  type varchar(256) not null default 'SIMPLE',
  -- A provisional application of a folder or of everything says so here: {"folder": path} or {"all": true}.
  meta jsonb not null default '{}',
  create_time timestamptz not null default clock_timestamp(),
  update_time timestamptz not null default clock_timestamp()
);

create unique index if not exists max_kb_application_folder on max_kb_application ((meta ->> 'folder')) where meta ? 'folder';
create unique index if not exists max_kb_application_all on max_kb_application ((meta ->> 'all')) where meta ? 'all';

create table if not exists max_kb_application_dataset_mapping (
  application_id uuid not null references max_kb_application (id) on delete cascade,
  dataset_id uuid not null references max_kb_dataset (id) on delete cascade,
  primary key (application_id, dataset_id)
);

create table if not exists max_kb_application_chat (
  id uuid primary key,
  application_id uuid not null references max_kb_application (id) on delete cascade,
  -- Who opened it; only they may act on it (R72, R73).
  client_id uuid not null,
  abstract varchar(1024) not null default '',
  asker jsonb not null default '{"user_name":"游客"}',
  is_deleted boolean not null default false,
  -- An opened chat without a question ends here (R126); null once it has one.
  expire_time timestamptz,
  create_time timestamptz not null default clock_timestamp(),
  update_time timestamptz not null default clock_timestamp()
);

create index if not exists max_kb_application_chat_application on max_kb_application_chat (application_id, update_time desc);
create index if not exists max_kb_application_chat_expiry on max_kb_application_chat (expire_time) where expire_time is not null;

create table if not exists max_kb_application_chat_record (
  id uuid primary key,
  chat_id uuid not null references max_kb_application_chat (id) on delete cascade,
  -- The total order of a chat's records; clocks may tie (R61).
  index int not null,
  -- running | done | stopped | failed | interrupted (R81)
  state varchar(16) not null,
  vote_status varchar(10) not null default '-1',
  problem_text text not null,
  -- Null until there is an answer; a record without one is never history (R66).
  answer_text text,
  reasoning_content text not null default '',
  -- Estimates of the local tokenizer (R40): what this round costs when it is carried as history.
  problem_tokens int not null,
  answer_text_tokens int not null default 0,
  -- What the models counted, or the estimate where they said nothing.
  message_tokens int not null default 0,
  answer_tokens int not null default 0,
  run_time float8 not null default 0,
  const int not null default 0,
  padding_problem_text text,
  details jsonb not null default '{}',
  citations jsonb not null default '[]',
  agent_trace jsonb not null default '[]',
  agent_stop_reason varchar(32),
  context_info jsonb,
  improve_paragraph_id_list uuid[] not null default '{}',
  create_time timestamptz not null default clock_timestamp(),
  update_time timestamptz not null default clock_timestamp(),
  unique (chat_id, index),
  constraint max_kb_application_chat_record_state check (state in ('running', 'done', 'stopped', 'failed', 'interrupted')),
  constraint max_kb_application_chat_record_stop check (agent_stop_reason in ('sufficient', 'max_rounds', 'duplicate_query',
    'no_new_evidence', 'evidence_budget', 'no_followup_query', 'no_datasets', 'assessment_error'))
);
