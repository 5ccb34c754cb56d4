-- Every embedded text, queries included, so that no text is sent to the provider twice.

create table if not exists max_kb_embedding_cache (
  model text not null,
  text_hash text not null,
  dimensions int not null,
  embedding real[] not null,
  create_time timestamptz not null default clock_timestamp(),
  primary key (model, text_hash)
);
