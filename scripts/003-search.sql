-- Search data: posting lists for BM25, embeddings for nearest neighbours. Both can be rebuilt from max_kb_paragraph.

create extension if not exists vector;

-- A batch of paragraphs that was indexed together, or several merged. Its counts give BM25 its N and average length;
-- paragraphs deleted since are still in them until the segment is merged or rewritten.
create table if not exists max_kb_search_segment (
  id int generated always as identity primary key,
  dataset_id uuid not null references max_kb_dataset (id) on delete cascade,
  paragraphs int not null,
  length bigint not null,
  min_number int not null,
  max_number int not null
);

create index if not exists max_kb_search_segment_dataset on max_kb_search_segment (dataset_id);

-- Lists, not a row for each posting: 58,913 statute articles take 85 MB instead of 455 MB, and a query reads a list at
-- once (5 ms instead of 56 ms; PostgreSQL 17, 2026-12-01). A paragraph is alive while max_kb_paragraph has its number.
create table if not exists max_kb_search_posting (
  dataset_id uuid not null references max_kb_dataset (id) on delete cascade,
  term text collate "C" not null,
  segment_id int not null,
  size int not null,
  numbers int[] not null,
  -- times the term occurs (at most 15) * 2048 + length of the paragraph in steps of four terms (at most 2047)
  codes smallint[] not null,
  primary key (dataset_id, term, segment_id)
);

create index if not exists max_kb_search_posting_segment on max_kb_search_posting (segment_id);

-- Joins lists without taking them apart, for merging segments.
create or replace aggregate max_kb_concatenate (anycompatiblearray) (sfunc = array_cat, stype = anycompatiblearray);

-- One row for each embedded chunk; a paragraph is as near as its nearest chunk.
create table if not exists max_kb_embedding (
  id bigint generated always as identity primary key,
  paragraph_id uuid not null references max_kb_paragraph (id) on delete cascade,
  document_id uuid not null,
  dataset_id uuid not null references max_kb_dataset (id) on delete cascade,
  -- MaxKB's numbers: '0' problem, '1' paragraph, '2' title.
  source_type varchar(1) not null default '1',
  model text not null,
  dimensions int not null,
  embedding vector not null
);

create index if not exists max_kb_embedding_paragraph on max_kb_embedding (paragraph_id);
create index if not exists max_kb_embedding_dataset on max_kb_embedding (dataset_id, model, dimensions);
