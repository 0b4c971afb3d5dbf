-- People, chats, their messages and queues, and the ownership of chats by replicas.
--
-- Room to grow: every table of chat state leads its primary key and each unique index with the chat, and no foreign
-- key, trigger or transaction spans two chats, so that the same statements can be spread over nodes by chat.

create table organizations (
  id uuid primary key default gen_random_uuid(),
  name text not null unique,
  is_default boolean not null default false,
  created_at timestamptz not null default now()
);
create unique index organizations_one_default on organizations (is_default) where is_default;
insert into organizations (name, is_default) values ('default', true);

create table users (
  id uuid primary key,
  username text not null unique,
  created_at timestamptz not null default now()
);

create table organization_members (
  organization_id uuid not null references organizations (id),
  user_id uuid not null references users (id) on delete cascade,
  primary key (organization_id, user_id)
);
create index organization_members_by_user on organization_members (user_id);

-- Only the hash: a copy of this table lets nobody in.
create table api_tokens (
  token_hash bytea primary key check (length(token_hash) = 32),
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now()
);

create table chats (
  id uuid primary key,
  organization_id uuid not null,
  owner_id uuid not null,
  parent_chat_id uuid,
  root_chat_id uuid,
  title text not null,
  mode text not null default '',
  plan_mode text not null default '',
  client_type text not null,
  labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object'),
  dynamic_tools text not null default '[]',  -- exact JSON text: jsonb would respell the schemas
  last_model_config_id uuid not null,
  reasoning_effort text,

  status text not null check (status in ('waiting', 'running', 'interrupting', 'requires_action', 'error')),
  archived boolean not null default false,
  queue_length bigint not null default 0 check (queue_length >= 0),
  last_error jsonb,
  retry_state jsonb,
  requires_action_deadline_at timestamptz,

  worker_id uuid,
  runner_id uuid,

  snapshot_version bigint not null default 1 check (snapshot_version >= 1),
  history_version bigint not null default 0,
  queue_version bigint not null default 0,
  retry_state_version bigint not null default 0,
  generation_attempt bigint not null default 0 check (generation_attempt >= 0),

  last_read_message_id bigint not null default 0,
  last_message_id bigint not null default 0,         -- the newest id given out; ids ascend within the chat
  last_queued_message_id bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint chats_owner_is_whole check ((worker_id is null) = (runner_id is null))
);
-- Acquisition visits the chats that have work, oldest first, and never an idle one.
create index chats_with_work on chats (updated_at)
  where status in ('running', 'interrupting', 'requires_action') and not archived;
create index chats_by_owner on chats (owner_id, updated_at desc, id desc) where parent_chat_id is null;

-- The request id of the outcome that a message's content holds; null: none.
create function outcome_request_id(content jsonb) returns uuid
language sql immutable parallel safe as $$
  select (jsonb_path_query_first(content, '$[*] ? (@.type == "structured-output-outcome")')
          #>> '{structured_output_data,request_id}')::uuid
$$;

-- A success has a value and no error; the others have an error and no value. True where the content holds no outcome.
create function outcome_is_whole(content jsonb) returns boolean
language sql immutable parallel safe as $$
  select coalesce(bool_and(coalesce(
    data ->> 'request_id' is not null
    and case data ->> 'status'
          when 'succeeded' then jsonb_typeof(data -> 'value') = 'string' and not data ? 'error'
          when 'failed' then not data ? 'value' and data #>> '{error,code}' is not null
          when 'canceled' then not data ? 'value' and data #>> '{error,code}' is not null
          else false
        end, false)), true)
    and count(*) <= 1
  from (select part -> 'structured_output_data' as data
        from jsonb_array_elements(case jsonb_typeof(content) when 'array' then content else '[]' end) as part
        where part ->> 'type' = 'structured-output-outcome') as outcomes
$$;

-- Whether a row has exactly the shape in which the server writes a receipt: it then does not count as history.
create function is_receipt(role text, visibility text, content jsonb) returns boolean
language sql immutable parallel safe as $$
  select role = 'assistant' and visibility = 'user' and jsonb_typeof(content) = 'array'
    and jsonb_array_length(content) = 2
    and (select count(*) filter (where part ->> 'type' = 'text') = 1
                and count(*) filter (where part ->> 'type' = 'structured-output-outcome') = 1
         from jsonb_array_elements(content) as part)
$$;

create table chat_messages (
  chat_id uuid not null references chats (id) on delete cascade,
  id bigint not null check (id > 0),
  role text not null check (role in ('system', 'user', 'assistant', 'tool')),
  visibility text not null check (visibility in ('user', 'model', 'both')),
  content jsonb not null check (jsonb_typeof(content) = 'array'),
  created_by uuid,
  model_config_id uuid,
  reasoning_effort text,
  input_tokens bigint,
  output_tokens bigint,
  total_tokens bigint,
  reasoning_tokens bigint,
  cache_creation_tokens bigint,
  cache_read_tokens bigint,
  context_limit bigint,
  compressed boolean not null default false,
  deleted boolean not null default false,
  revision bigint not null,  -- kept by triggers
  created_at timestamptz not null default clock_timestamp(),
  primary key (chat_id, id),
  constraint chat_messages_outcome_is_whole check (outcome_is_whole(content))
);
-- One outcome per request, ever: soft-deleted rows count.
create unique index chat_messages_one_outcome on chat_messages (chat_id, outcome_request_id(content))
  where content @> '[{"type": "structured-output-outcome"}]';
-- A stream reads what changed since its cursor.
create index chat_messages_by_revision on chat_messages (chat_id, revision) where visibility <> 'model';

create table chat_queued_messages (
  chat_id uuid not null references chats (id) on delete cascade,
  id bigint not null check (id > 0),
  position bigint not null,
  content jsonb not null check (jsonb_typeof(content) = 'array'),
  model_config_id uuid,
  reasoning_effort text,
  created_by uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (chat_id, id)
);

-- Not logged: after a crash of the server every lease counts as lapsed, which is safe.
create unlogged table chat_heartbeats (
  chat_id uuid not null references chats (id) on delete cascade,
  runner_id uuid not null,
  heartbeat_at timestamptz not null,
  has_replica_lock boolean not null,  -- the owner held its replica lock then: if that is free now, the owner is gone
  primary key (chat_id, runner_id)
);

-- The key of a replica's session advisory lock.
create function replica_lock_key(replica_id uuid) returns bigint
language sql immutable parallel safe strict as $$
  select ('x' || left(replace(replica_id::text, '-', ''), 16))::bit(64)::bigint
$$;

-- Versions. The transaction has advanced snapshot_version before it changes anything else.

create function chats_before_update() returns trigger language plpgsql as $$
begin
  if new.snapshot_version < old.snapshot_version then
    raise exception 'snapshot_version does not go back';
  end if;
  if pg_trigger_depth() < 2 and (new.history_version <> old.history_version or new.queue_version <> old.queue_version
                                 or new.queue_length <> old.queue_length) then
    raise exception 'history_version, queue_version and queue_length are kept by triggers';
  end if;
  if new.retry_state_version <> old.retry_state_version then
    raise exception 'retry_state_version is kept by a trigger';
  end if;
  if new.generation_attempt <> old.generation_attempt and new.retry_state is not distinct from old.retry_state then
    new.retry_state := null;
  end if;
  if new.retry_state is distinct from old.retry_state then
    new.retry_state_version := new.snapshot_version;
  end if;
  return new;
end
$$;
create trigger chats_before_update before update on chats
  for each row execute function chats_before_update();

create function chat_messages_before_insert() returns trigger language plpgsql as $$
begin
  if new.revision is not null then
    raise exception 'revision is kept by a trigger';
  end if;
  select snapshot_version into strict new.revision from chats where id = new.chat_id;
  return new;
end
$$;
create trigger chat_messages_before_insert before insert on chat_messages
  for each row execute function chat_messages_before_insert();

create function chat_messages_before_update() returns trigger language plpgsql as $$
begin
  if new.chat_id <> old.chat_id or new.id <> old.id then
    raise exception 'a message keeps its chat and id';
  end if;
  if new.revision <> old.revision then
    raise exception 'revision is kept by a trigger';
  end if;
  if new is distinct from old then
    select snapshot_version into strict new.revision from chats where id = new.chat_id;
  end if;
  return new;
end
$$;
create trigger chat_messages_before_update before update on chat_messages
  for each row execute function chat_messages_before_update();

-- Receipts are no history: work in progress goes on. In a mixed statement the other rows count as ever.
create function chat_messages_after_insert() returns trigger language plpgsql as $$
begin
  update chats set history_version = snapshot_version, generation_attempt = 0
  where id in (select chat_id from inserted where not is_receipt(role, visibility, content))
    and (history_version <> snapshot_version or generation_attempt <> 0);
  return null;
end
$$;
create trigger chat_messages_after_insert after insert on chat_messages
  referencing new table as inserted for each statement execute function chat_messages_after_insert();

create function chat_messages_after_update() returns trigger language plpgsql as $$
begin
  update chats set history_version = snapshot_version, generation_attempt = 0
  where id in (select after.chat_id from changed_from as before
               join changed_to as after on after.chat_id = before.chat_id and after.id = before.id
               where after is distinct from before)
    and (history_version <> snapshot_version or generation_attempt <> 0);
  return null;
end
$$;
create trigger chat_messages_after_update after update on chat_messages
  referencing old table as changed_from new table as changed_to
  for each statement execute function chat_messages_after_update();

create function chat_messages_after_delete() returns trigger language plpgsql as $$
begin
  update chats set history_version = snapshot_version, generation_attempt = 0
  where id in (select chat_id from removed) and (history_version <> snapshot_version or generation_attempt <> 0);
  return null;
end
$$;
create trigger chat_messages_after_delete after delete on chat_messages
  referencing old table as removed for each statement execute function chat_messages_after_delete();

create function chat_queued_messages_changed() returns trigger language plpgsql as $$
begin
  update chats set queue_version = snapshot_version,
    queue_length = (select count(*) from chat_queued_messages where chat_id = chats.id)
  where id in (select chat_id from changed);
  return null;
end
$$;
create trigger chat_queued_messages_after_insert after insert on chat_queued_messages
  referencing new table as changed for each statement execute function chat_queued_messages_changed();
create trigger chat_queued_messages_after_delete after delete on chat_queued_messages
  referencing old table as changed for each statement execute function chat_queued_messages_changed();
create trigger chat_queued_messages_after_update after update on chat_queued_messages
  referencing new table as changed for each statement execute function chat_queued_messages_changed();
