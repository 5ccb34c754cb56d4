-- Datasets, documents and paragraphs: MaxKB's nouns (maxkb-v1-api.md section 5) with UUIDv7 ids.

create table if not exists max_kb_dataset (
  id uuid primary key,
  user_id uuid not null,
  name varchar(150) not null,
  "desc" varchar(256) not null default '',
  type varchar(1) not null default '0',
  meta jsonb not null default '{}',
  create_time timestamptz not null default clock_timestamp(),
  update_time timestamptz not null default clock_timestamp()
);

-- A dataset that mirrors a folder carries the folder in meta, one dataset for each folder.
create unique index if not exists max_kb_dataset_folder on max_kb_dataset ((meta ->> 'folder')) where meta ? 'folder';

create table if not exists max_kb_document (
  id uuid primary key,
  dataset_id uuid not null references max_kb_dataset (id) on delete cascade,
  name varchar(150) not null,
  char_length int not null default 0,
  -- One character a task, read from the right: embedding, question generation, web sync (maxkb-v1-api.md section 2.4).
  status varchar(20) not null default 'nnn',
  status_meta jsonb not null default '{"state_time":{}}',
  is_active boolean not null default true,
  type varchar(1) not null default '0',
  hit_handling_method varchar(20) not null default 'optimization',
  directly_return_similarity float8 not null default 0.9,
  -- A document read from a folder: path (relative), size, mtime_ms, sha256, strategy, warnings.
  meta jsonb not null default '{}',
  create_time timestamptz not null default clock_timestamp(),
  update_time timestamptz not null default clock_timestamp()
);

create index if not exists max_kb_document_dataset on max_kb_document (dataset_id, create_time desc);
create unique index if not exists max_kb_document_path on max_kb_document (dataset_id, (meta ->> 'path')) where meta ? 'path';

create table if not exists max_kb_paragraph (
  id uuid primary key,
  -- A small number for posting lists; ids are sixteen bytes, this is four.
  number int generated always as identity unique,
  dataset_id uuid not null references max_kb_dataset (id) on delete cascade,
  document_id uuid not null references max_kb_document (id) on delete cascade,
  position int not null,
  title varchar(256) not null default '',
  content varchar(102400) not null,
  -- Estimated tokens of title and content by the local tokenizer (R40), counted once when indexed.
  token_count int not null,
  status varchar(20) not null default 'nnn',
  status_meta jsonb not null default '{"state_time":{}}',
  hit_num int not null default 0,
  is_active boolean not null default true,
  create_time timestamptz not null default clock_timestamp(),
  update_time timestamptz not null default clock_timestamp()
);

create index if not exists max_kb_paragraph_document on max_kb_paragraph (document_id, position);
create index if not exists max_kb_paragraph_dataset on max_kb_paragraph (dataset_id);
