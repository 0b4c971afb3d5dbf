#include "store/statements.h"

#include <fmt/format.h>

namespace assay::store::statements {

namespace {

std::string micros(std::string_view expression) {
  return fmt::format("(extract(epoch from {}) * 1000000)::bigint", expression);
}

// The select lists that rows.cc reads by position.
std::string chat_columns() {
  return fmt::format(
      "id, organization_id, owner_id, parent_chat_id, root_chat_id, title, mode, plan_mode, client_type, labels, "
      "dynamic_tools, last_model_config_id, reasoning_effort, status, archived, queue_length, last_error, retry_state, "
      "{}, worker_id, runner_id, snapshot_version, history_version, queue_version, retry_state_version, "
      "generation_attempt, last_read_message_id, last_message_id, {}, {}, compaction_due",
      micros("requires_action_deadline_at"), micros("created_at"), micros("updated_at"));
}

std::string message_columns(std::string_view content) {
  return fmt::format(
      "id, role, visibility, {}, created_by, model_config_id, reasoning_effort, input_tokens, output_tokens, "
      "total_tokens, reasoning_tokens, cache_creation_tokens, cache_read_tokens, context_limit, compressed, deleted, "
      "revision, {}",
      content, micros("created_at"));
}

std::string queue_columns() {
  return fmt::format("id, position, content, model_config_id, reasoning_effort, created_by, {}", micros("created_at"));
}

// The keys of all replica locks that are held.
constexpr std::string_view kHeldLocks =
    "held_locks as materialized ("
    "select (l.classid::bigint << 32) | l.objid::bigint as key from pg_locks l "
    "where l.locktype = 'advisory' and l.objsubid = 1 and l.granted "
    "and l.database = (select d.oid from pg_database d where d.datname = current_database()))";

std::string acquire_sql() {
  // Candidates are chosen without a lock. What somebody else took meanwhile has another runner_id when the row is
  // locked, and drops out there: a heartbeat newer than this statement's snapshot would be invisible to it. More
  // candidates than asked for, so that replicas that race for the same ones all find some.
  return fmt::format(
      "with {0}, candidates as materialized ("
      "select c.id, c.runner_id, c.updated_at from chats c "
      "where c.status in ('running', 'interrupting', 'requires_action') and not c.archived "
      "and (c.worker_id is null or not exists ("
      "select from chat_heartbeats h where h.chat_id = c.id and h.runner_id = c.runner_id "
      "and h.heartbeat_at > clock_timestamp() - $3::bigint * interval '1 millisecond' "
      "and (not h.has_replica_lock or replica_lock_key(c.worker_id) in (select key from held_locks) "
      "or pg_postmaster_start_time() > clock_timestamp() - interval '{1} seconds'))) "
      "order by c.updated_at limit $2::bigint * 4), "
      "picked as ("
      "select c.id from candidates k join chats c on c.id = k.id and c.runner_id is not distinct from k.runner_id "
      "where c.status in ('running', 'interrupting', 'requires_action') and not c.archived "
      "order by k.updated_at limit $2::bigint for no key update of c skip locked), "
      "taken as ("
      "update chats c set worker_id = $1, runner_id = gen_random_uuid(), snapshot_version = snapshot_version + 1 "
      "from picked p where c.id = p.id returning c.id, c.runner_id, c.snapshot_version), "
      "lapsed as (delete from chat_heartbeats h using picked p where h.chat_id = p.id), "
      "beating as ("
      "insert into chat_heartbeats (chat_id, runner_id, heartbeat_at, has_replica_lock) "
      "select t.id, t.runner_id, clock_timestamp(), replica_lock_key($1) in (select key from held_locks) from taken t) "
      "select id, runner_id, snapshot_version from taken",
      kHeldLocks, kReplicaLockGraceSeconds);
}

std::string heartbeat_sql() {
  return fmt::format(
      "with {0}, mine as ("
      "select c.id, c.runner_id from unnest($2::uuid[], $3::uuid[]) as m (chat_id, runner_id) "
      "join chats c on c.id = m.chat_id and c.runner_id = m.runner_id and c.worker_id = $1), "
      "beating as ("
      "insert into chat_heartbeats (chat_id, runner_id, heartbeat_at, has_replica_lock) "
      "select m.id, m.runner_id, clock_timestamp(), replica_lock_key($1) in (select key from held_locks) from mine m "
      "on conflict (chat_id, runner_id) do update "
      "set heartbeat_at = excluded.heartbeat_at, has_replica_lock = excluded.has_replica_lock) "
      "select id, runner_id from mine",
      kHeldLocks);
}

}  // namespace

// A replica that stands still inside a transaction must not hold a chat's row for ever. Every statement has its index:
// plans that are made for a chat of average length, or for a small database, read the whole of a long chat or of the
// table where they may.
const Statement kConfigureSession{
    "configure_session",
    "select set_config('jit', 'off', false), "
    "set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false), "
    "set_config('idle_in_transaction_session_timeout', '10s', false), "
    "set_config('client_connection_check_interval', '500ms', false)"};
const Statement kPing{"ping", "select 1"};
const Statement kBegin{"begin", "begin"};
const Statement kBeginSnapshot{"begin_snapshot", "begin isolation level repeatable read read only"};
const Statement kCommit{"commit", "commit"};
const Statement kRollback{"rollback", "rollback"};
const Statement kSchemaVersion{"schema_version", "select coalesce(max(version), 0) from schema_migrations"};

const Statement kInsertChat{
    "insert_chat",
    fmt::format("insert into chats (id, organization_id, owner_id, parent_chat_id, root_chat_id, title, mode, "
                "plan_mode, client_type, labels, dynamic_tools, last_model_config_id, reasoning_effort, status) "
                "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) "
                "on conflict (id) do nothing returning {}",
                chat_columns())};
const Statement kLockChat{"lock_chat",
                          fmt::format("update chats set snapshot_version = snapshot_version + 1 where id = $1 "
                                      "returning {}, last_queued_message_id, {}",
                                      chat_columns(), micros("clock_timestamp()"))};
const Statement kUpdateChat{
    "update_chat",
    fmt::format("update chats set "
                "status = coalesce($2, status), "
                "archived = coalesce($3::boolean, archived), "
                "last_error = case when $4::boolean then $5::jsonb else last_error end, "
                "retry_state = case when $6::boolean then $7::jsonb else retry_state end, "
                "generation_attempt = coalesce($8::bigint, generation_attempt), "
                "requires_action_deadline_at = case when $9::boolean then null "
                "when $10::bigint is not null then clock_timestamp() + $10::bigint * interval '1 millisecond' "
                "else requires_action_deadline_at end, "
                "worker_id = case when $11::boolean then null else worker_id end, "
                "runner_id = case when $11::boolean then null else runner_id end, "
                "title = coalesce($12, title), "
                "labels = coalesce($13::jsonb, labels), "
                "plan_mode = coalesce($14, plan_mode), "
                "last_model_config_id = coalesce($15::uuid, last_model_config_id), "
                "reasoning_effort = case when $16::boolean then $17 else reasoning_effort end, "
                "last_message_id = $18, "
                "last_queued_message_id = $19, "
                "compaction_due = coalesce($20::boolean, compaction_due), "
                "last_read_message_id = case when $21::boolean then $18 else last_read_message_id end, "
                "updated_at = clock_timestamp() "
                "where id = $1 returning {}",
                chat_columns())};
const Statement kInsertMessages{
    "insert_messages",
    fmt::format("insert into chat_messages (chat_id, id, role, visibility, content, created_by, model_config_id, "
                "reasoning_effort, input_tokens, output_tokens, total_tokens, reasoning_tokens, cache_creation_tokens, "
                "cache_read_tokens, context_limit, compressed) "
                "select $1::uuid, r.id, r.role, r.visibility, r.content, r.created_by, r.model_config_id, "
                "r.reasoning_effort, r.input_tokens, r.output_tokens, r.total_tokens, r.reasoning_tokens, "
                "r.cache_creation_tokens, r.cache_read_tokens, r.context_limit, r.compressed "
                "from jsonb_to_recordset($2::jsonb) as r (id bigint, role text, visibility text, content jsonb, "
                "created_by uuid, model_config_id uuid, reasoning_effort text, input_tokens bigint, "
                "output_tokens bigint, total_tokens bigint, reasoning_tokens bigint, cache_creation_tokens bigint, "
                "cache_read_tokens bigint, context_limit bigint, compressed boolean) "
                "returning id, revision, {}",
                micros("created_at"))};
const Statement kDeleteMessages{
    "delete_messages",
    "update chat_messages set deleted = true where chat_id = $1 and id = any($2::bigint[]) and not deleted "
    "returning id, visibility <> 'model'"};
const Statement kEnqueue{
    "enqueue",
    fmt::format("insert into chat_queued_messages (chat_id, id, position, content, model_config_id, reasoning_effort, "
                "created_by) "
                "select $1::uuid, r.id, r.id - $3::bigint + (select coalesce(max(q.position), 0) "
                "from chat_queued_messages q where q.chat_id = $1::uuid), r.content, r.model_config_id, "
                "r.reasoning_effort, r.created_by "
                "from jsonb_to_recordset($2::jsonb) as r (id bigint, content jsonb, model_config_id uuid, "
                "reasoning_effort text, created_by uuid) "
                "returning id, position, {}",
                micros("created_at"))};
const Statement kDequeue{"dequeue", "delete from chat_queued_messages where chat_id = $1 and id = any($2::bigint[])"};
const Statement kReorderQueue{"reorder_queue",
                              "update chat_queued_messages q set position = o.position "
                              "from unnest($2::bigint[]) with ordinality as o (id, position) "
                              "where q.chat_id = $1 and q.id = o.id and q.position <> o.position"};
// A subquery for each, so that a generic plan too looks the request up in the index of outcomes.
const Statement kClosedRequests{
    "closed_requests",
    "select r.id from unnest($2::uuid[]) as r (id) where (select true from chat_messages m where m.chat_id = $1 "
    "and m.content @> '[{\"type\": \"structured-output-outcome\"}]' and outcome_request_id(m.content) = r.id limit 1)"};

const Statement kAllClosedRequests{"all_closed_requests",
                                   "select outcome_request_id(content) from chat_messages where chat_id = $1 "
                                   "and content @> '[{\"type\": \"structured-output-outcome\"}]'"};

const Statement kFindSubmission{"find_submission",
                                "select digest, status, body from chat_submissions where chat_id = $1 and user_id = $2 "
                                "and route = $3 and submission_key = $4"};
const Statement kInsertSubmission{
    "insert_submission",
    "insert into chat_submissions (chat_id, user_id, route, submission_key, digest, status, body) "
    "values ($1, $2, $3, $4, $5, $6, $7)"};

const Statement kFindChat{
    "find_chat", fmt::format("select {}, {} from chats where id = $1", chat_columns(), micros("clock_timestamp()"))};
// No transition: it moves no version, wakes nobody and reorders no list.
const Statement kMarkRead{"mark_read",
                          "update chats set last_read_message_id = last_message_id "
                          "where id = $1 and last_read_message_id < last_message_id"};
const Statement kListChats{
    "list_chats", fmt::format("select {} from chats where owner_id = $1 and parent_chat_id is null "
                              "and ($2::boolean is null or archived = $2::boolean) "
                              "and labels @> $3::jsonb "
                              "and ($4::text = '' or position(lower($4::text) in lower(title)) > 0) "
                              "and ($8::boolean is null or (last_message_id > last_read_message_id) = $8::boolean) "
                              "and ($5::uuid is null or (updated_at, id) < (select a.updated_at, a.id from chats a "
                              "where a.id = $5::uuid and a.owner_id = $1)) "
                              "order by updated_at desc, id desc limit $6::bigint offset $7::bigint",
                              chat_columns())};
const Statement kHistory{"history",
                         fmt::format("select {} from chat_messages where chat_id = $1 and not deleted order by id",
                                     message_columns("content"))};
// From the last step before $2 on.
const Statement kOpenStep{
    "open_step", fmt::format("select {} from chat_messages where chat_id = $1 and not deleted and id >= coalesce("
                             "(select id from chat_messages where chat_id = $1 and not deleted and role = 'assistant' "
                             "and visibility = 'both' and id < $2::bigint order by id desc limit 1), 0) order by id",
                             message_columns("content"))};
// Where calls wait for the client: the step that made them, and what follows.
const Statement kPendingStep{
    "pending_step",
    fmt::format("select {} from chat_messages where chat_id = $1 and not deleted "
                "and exists (select from chats where id = $1 and status = 'requires_action') and id >= coalesce("
                "(select id from chat_messages where chat_id = $1 and not deleted and role = 'assistant' "
                "and visibility = 'both' order by id desc limit 1), 0) order by id",
                message_columns("content"))};
const Statement kMessagesDescending{
    "messages_descending",
    fmt::format("select {} from chat_messages where chat_id = $1 and not deleted and visibility <> 'model' "
                "and id < $2::bigint and id > $3::bigint order by id desc limit $4::bigint",
                message_columns("content"))};
const Statement kMessagesAscending{
    "messages_ascending",
    fmt::format("select {} from chat_messages where chat_id = $1 and not deleted and visibility <> 'model' "
                "and id < $2::bigint and id > $3::bigint order by id limit $4::bigint",
                message_columns("content"))};
const Statement kQueue{
    "queue",
    fmt::format("select {} from chat_queued_messages where chat_id = $1 order by position, id", queue_columns())};
// A first sync, which reads by id; what was deleted before it is nobody's news.
const Statement kFirstSyncMessages{
    "first_sync_messages",
    fmt::format("select {} from chat_messages where chat_id = $1 and not deleted and visibility <> 'model' "
                "and id > $2::bigint order by id",
                message_columns("content"))};
// A later one, which reads by revision. Of deleted rows only the id is of use.
const Statement kSyncMessages{
    "sync_messages",
    fmt::format("select {} from chat_messages where chat_id = $1 and revision > $2::bigint and visibility <> 'model' "
                "and (deleted or id > $3::bigint) order by id",
                message_columns("case when deleted then '[]'::jsonb else content end"))};
const Statement kSyncQueue{
    "sync_queue",
    fmt::format("select {} from chat_queued_messages q where chat_id = $1 "
                "and (select c.queue_version from chats c where c.id = $1) <> $2::bigint order by position, id",
                queue_columns())};

const Statement kAcquire{"acquire", acquire_sql()};
const Statement kHeartbeat{"heartbeat", heartbeat_sql()};
const Statement kRelease{"release",
                         "with freed as ("
                         "update chats set worker_id = null, runner_id = null, snapshot_version = snapshot_version + 1 "
                         "where id = $1 and runner_id = $2 returning id, snapshot_version, "
                         "status in ('running', 'interrupting', 'requires_action') and not archived as has_work), "
                         "ended as (delete from chat_heartbeats where chat_id = $1 and runner_id = $2) "
                         "select snapshot_version, has_work from freed"};
// False while an earlier session of the same replica still holds it.
const Statement kTakeReplicaLock{"take_replica_lock", "select pg_try_advisory_lock(replica_lock_key($1))"};
// $1: the lease. A session that is silent for so long has lost its replica.
const Statement kConfigureListener{"configure_listener", "select set_config('idle_session_timeout', $1, false)"};
const Statement kListen{"listen", fmt::format("listen {}", kChannel)};
const Statement kNotify{"notify", fmt::format("select pg_notify('{}', $1)", kChannel)};

const Statement kUserByToken{
    "user_by_token",
    fmt::format("select u.id, m.organization_id, u.username, {} from api_tokens t join users u on u.id = t.user_id "
                "join organization_members m on m.user_id = u.id join organizations o on o.id = m.organization_id "
                "where t.token_hash = $1::bytea order by o.is_default desc limit 1",
                micros("u.created_at"))};
const Statement kUserByName{
    "user_by_name",
    fmt::format("select u.id, m.organization_id, u.username, {} from users u "
                "join organization_members m on m.user_id = u.id join organizations o on o.id = m.organization_id "
                "where u.username = $1 order by o.is_default desc limit 1",
                micros("u.created_at"))};
const Statement kInsertUser{"insert_user",
                            "insert into users (id, username) values ($1, $2) on conflict (username) do nothing"};
const Statement kJoinDefaultOrganization{
    "join_default_organization",
    "insert into organization_members (organization_id, user_id) "
    "select o.id, u.id from organizations o, users u where o.is_default and u.username = $1 on conflict do nothing"};
const Statement kInsertToken{
    "insert_token", "insert into api_tokens (token_hash, user_id) values ($1::bytea, $2) on conflict do nothing"};

}  // namespace assay::store::statements
