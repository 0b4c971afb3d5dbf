#include "tests/crash/books.h"

#include <libpq-fe.h>

#include <memory>
#include <stdexcept>

namespace assay::tests {
namespace {

class Database {
 public:
  explicit Database(const std::string& url)
      : connection_(PQconnectdb((url + " connect_timeout=10").c_str()), PQfinish) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(connection_.get()));
  }
  // The first column.
  std::vector<std::string> column(const char* sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection_.get(), sql), PQclear);
    if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) throw std::runtime_error(PQerrorMessage(connection_.get()));
    std::vector<std::string> values;
    for (int row = 0; row < PQntuples(result.get()); ++row) values.emplace_back(PQgetvalue(result.get(), row, 0));
    return values;
  }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

// Every part of every message, soft-deleted rows included.
#define PARTS                                                                \
  "select m.chat_id, m.id, m.role, m.deleted, p.part from chat_messages m, " \
  "jsonb_array_elements(m.content) as p (part)"
#define REQUEST_ID "part #>> '{structured_output_data,request_id}'"

struct Rule {
  const char* fault;
  const char* sql;  // what breaks it
};
constexpr Rule kRules[] = {
    {"a request without a receipt",
     "select " REQUEST_ID " from (" PARTS ") a where part ->> 'type' = 'structured-output-request' and not exists "
     "(select from (" PARTS ") b where b.part ->> 'type' = 'structured-output-outcome' and "
     "b.part #>> '{structured_output_data,request_id}' = a.part #>> '{structured_output_data,request_id}')"},
    {"a request with several receipts",
     "select " REQUEST_ID " from (" PARTS ") a where part ->> 'type' = 'structured-output-outcome' "
     "group by 1 having count(*) > 1"},
    {"a request that was asked twice",
     "select " REQUEST_ID " from (" PARTS ") a where part ->> 'type' = 'structured-output-request' "
     "group by 1 having count(*) > 1"},
    {"a request with several candidates",
     "select " REQUEST_ID " from (" PARTS ") a where part ->> 'type' = 'structured-output-control' "
     "and part #>> '{structured_output_data,kind}' = 'candidate' group by 1 having count(*) > 1"},
    {"a request with more rejections than its budget",
     "select " REQUEST_ID " from (" PARTS ") a where part ->> 'type' = 'structured-output-control' "
     "and part #>> '{structured_output_data,kind}' = 'rejection' group by 1 having count(*) > 3"},
    {"a success that is not its candidate",
     "select o.part #>> '{structured_output_data,request_id}' from (" PARTS ") o "
     "where o.part ->> 'type' = 'structured-output-outcome' "
     "and o.part #>> '{structured_output_data,status}' = 'succeeded' and not exists (select from (" PARTS ") c "
     "where c.part ->> 'type' = 'structured-output-control' "
     "and c.part #>> '{structured_output_data,request_id}' = o.part #>> '{structured_output_data,request_id}' "
     "and c.part #>> '{structured_output_data,value}' = o.part #>> '{structured_output_data,value}')"},
    {"a user's message that stands there twice",
     "select part ->> 'text' from (" PARTS ") a where role = 'user' and part ->> 'type' = 'text' "
     "and part ->> 'text' like 'message %' group by 1 having count(*) > 1"},
    {"a call without exactly one result",
     "select chat_id || '/' || (part ->> 'tool_call_id') from (" PARTS ") a where not deleted "
     "and part ->> 'type' in ('tool-call', 'tool-result') and coalesce(part ->> 'provider_executed', '') <> 'true' "
     "group by chat_id, part ->> 'tool_call_id' "
     "having count(*) filter (where part ->> 'type' = 'tool-call') <> "
     "count(*) filter (where part ->> 'type' = 'tool-result')"},
    {"a chat at rest with an owner", "select id from chats where worker_id is not null"},
};

std::set<std::string> set_of(std::vector<std::string> values) { return {values.begin(), values.end()}; }

}  // namespace

bool is_at_rest(const std::string& database_url) {
  try {
    Database database(database_url);
    const auto busy = database.column(
        "select id from chats where status in ('running', 'interrupting', 'requires_action') or queue_length > 0");
    return busy.empty();
  } catch (const std::runtime_error&) {
    return false;
  }
}

std::string unrest(const std::string& database_url) {
  std::string text;
  for (const std::string& row :
       Database(database_url)
           .column("select row(id, status, queue_length, worker_id, generation_attempt, snapshot_version, retry_state, "
                   "last_error, updated_at, now()) from chats "
                   "where status in ('running', 'interrupting', 'requires_action') or queue_length > 0")) {
    text += row + "\n";
  }
  return text;
}

std::vector<std::string> stuck_chats(const std::string& database_url) {
  return Database(database_url).column("select id from chats where status = 'error' and queue_length > 0");
}

Books balance(const std::string& database_url, const Accepted& accepted) {
  Database database(database_url);
  Books books;
  books.chats = database.column("select id from chats").size();
  const auto requests = set_of(
      database.column("select " REQUEST_ID " from (" PARTS ") a where part ->> 'type' = 'structured-output-request'"));
  const auto receipts = set_of(
      database.column("select " REQUEST_ID " from (" PARTS ") a where part ->> 'type' = 'structured-output-outcome'"));
  books.requests = requests.size();
  books.receipts = receipts.size();
  for (const Rule& rule : kRules) {
    for (const std::string& what : database.column(rule.sql))
      books.faults.push_back(std::string(rule.fault) + ": " + what);
  }
  for (const std::string& id : accepted.requests) {
    if (!receipts.contains(id)) books.faults.push_back("an accepted request without a receipt: " + id);
  }
  const auto texts = set_of(
      database.column("select part ->> 'text' from (" PARTS ") a where role = 'user' and part ->> 'type' = 'text'"));
  for (const std::string& text : accepted.texts) {
    if (!texts.contains(text)) books.faults.push_back("an accepted message that is lost: " + text);
  }
  return books;
}

}  // namespace assay::tests
