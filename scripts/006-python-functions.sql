-- The library of Python functions (maxkb-v1-api.md sections 5 and 9, R111).

create table if not exists max_kb_function_lib (
  id uuid primary key,
  user_id uuid not null,
  name varchar(128) not null,
  "desc" varchar(128) not null default '',
  icon varchar(256) not null default '/ui/favicon.ico',
  code text not null,
  input_field_list jsonb not null default '[]',
  init_field_list jsonb not null default '[]',
  -- Values of the fields above, secrets among them: read by their owner's executions, masked wherever they are shown.
  init_params jsonb,
  permission_type varchar(20) not null default 'PRIVATE',
  function_type varchar(20) not null default 'PUBLIC',
  template_id uuid,
  is_active boolean not null default false,
  is_deleted boolean not null default false,
  create_time timestamptz not null default clock_timestamp(),
  update_time timestamptz not null default clock_timestamp(),
  constraint max_kb_function_lib_code check (octet_length(code) <= 65536),
  constraint max_kb_function_lib_permission check (permission_type in ('PRIVATE', 'PUBLIC')),
  constraint max_kb_function_lib_type check (function_type in ('PUBLIC', 'INTERNAL'))
);

create index if not exists max_kb_function_lib_user on max_kb_function_lib (user_id, create_time desc) where not is_deleted;
create index if not exists max_kb_function_lib_public on max_kb_function_lib (create_time desc)
  where permission_type = 'PUBLIC' and not is_deleted;
