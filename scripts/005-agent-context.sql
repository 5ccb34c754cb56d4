-- The durable memory of long conversations, who answers in one, and the events of recent answers (R61, R67, R74).

create table if not exists max_kb_chat_context (
  chat_id uuid primary key references max_kb_application_chat (id) on delete cascade,
  summary text not null,
  -- An estimate of the local tokenizer (R40).
  summary_tokens int not null,
  -- The watermark: the last record merged into the summary, and its place in the chat's total order.
  through_record_id uuid not null,
  through_index int not null,
  compacted_rounds int not null,
  -- One more with each merged batch; a writer names the revision it read (R70).
  revision int not null,
  update_time timestamptz not null default clock_timestamp(),
  constraint max_kb_chat_context_summary check (summary <> ''),
  constraint max_kb_chat_context_counts check (revision >= 1 and compacted_rounds >= revision and through_index >= compacted_rounds)
);

-- History is read by place, and only records with an answer belong to it (R66).
create index if not exists max_kb_application_chat_record_answered
  on max_kb_application_chat_record (chat_id, index) where answer_text is not null;

create index if not exists max_kb_application_chat_record_running
  on max_kb_application_chat_record (chat_id) where state = 'running';

-- Who may answer or compact in a chat when several servers share the database. A row stays after its lease has
-- ended, so that fences only ever grow.
create table if not exists max_kb_chat_lease (
  chat_id uuid primary key references max_kb_application_chat (id) on delete cascade,
  owner uuid not null,
  fence bigint not null,
  expire_time timestamptz not null,
  stop_requested boolean not null default false
);

-- What an answer's stream said, in batches of consecutive numbers, until an hour after its end.
create table if not exists max_kb_chat_event (
  record_id uuid not null references max_kb_application_chat_record (id) on delete cascade,
  first_number int not null,
  last_number int not null,
  events jsonb not null,
  create_time timestamptz not null default clock_timestamp(),
  primary key (record_id, first_number)
);

create index if not exists max_kb_chat_event_time on max_kb_chat_event (create_time);
