// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/store.h"

#include "reference/result.h"

#include <algorithm>
#include <fcntl.h>
#include <set>
#include <sqlite3.h>
#include <unistd.h>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

constexpr int application = 0x61737379;  // "assy"
constexpr int format = 1;

constexpr const char* tables = R"(
  CREATE TABLE identity(fact TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE verdicts("index" INTEGER PRIMARY KEY, line TEXT NOT NULL, state TEXT NOT NULL, because TEXT NOT NULL,
                        verdict BLOB NOT NULL);
  CREATE TABLE findings(key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
)";

// SQLite locks bytes of the file for the process that has it open.
std::string holder_of(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return "another process";
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool known = ::fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0;
  ::close(descriptor);
  return known ? "process " + std::to_string(lock.l_pid) : "another process";
}

[[noreturn]] void fail(sqlite3* database, const fs::path& file) {
  const std::string store = "the store " + file.string();
  switch (sqlite3_errcode(database)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw InputError(store + " is in use by " + holder_of(file) + "; wait for it, or name another store");
    case SQLITE_FULL: throw InputError(store + " cannot grow: the disk is full; make room and go on with --resume");
    case SQLITE_READONLY:
      throw InputError(store + " may not be written; change its permissions, or name another store");
    case SQLITE_CONSTRAINT: throw InputError(store + " is damaged: it refuses a case it lacks; begin a new one");
    case SQLITE_NOTADB: throw InputError(file.string() + " is no assay store; name another file");
    case SQLITE_CORRUPT: throw InputError(store + " is damaged; begin a new one");
    case SQLITE_CANTOPEN:
      throw InputError("cannot open " + store + "; check that its folder exists and may be written");
    default: break;
  }
  throw InputError(store + ": " + sqlite3_errmsg(database) +
                   "; what was kept stays: check its disk and the limits on file sizes, then go on with --resume");
}

// One SQL statement; parameters count from 1, columns from 0.
class Statement {
 public:
  Statement(sqlite3* database, const fs::path& file, const char* sql) : database_(database), file_(file) {
    if (sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr) != SQLITE_OK) fail(database, file);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& number(int at, std::int64_t value) { return bound(sqlite3_bind_int64(statement_, at, value)); }
  Statement& text(int at, std::string_view value) {
    return bound(sqlite3_bind_text64(statement_, at, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
  Statement& blob(int at, std::string_view value) {
    return bound(sqlite3_bind_blob64(statement_, at, value.data(), value.size(), SQLITE_STATIC));
  }
  // True while there is a row.
  bool step() {
    const int result = sqlite3_step(statement_);
    if (result != SQLITE_ROW && result != SQLITE_DONE) fail(database_, file_);
    return result == SQLITE_ROW;
  }
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string bytes(int column) const {
    const void* data = sqlite3_column_blob(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return size == 0 ? std::string() : std::string(static_cast<const char*>(data), size);
  }

 private:
  Statement& bound(int result) {
    if (result != SQLITE_OK) fail(database_, file_);
    return *this;
  }
  sqlite3* database_;
  const fs::path& file_;
  sqlite3_stmt* statement_ = nullptr;
};

void execute(sqlite3* database, const fs::path& file, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(database, file);
}

std::int64_t pragma(sqlite3* database, const fs::path& file, const std::string& name) {
  Statement statement(database, file, ("PRAGMA " + name).c_str());
  return statement.step() ? statement.number(0) : 0;
}

sqlite3* opened(const fs::path& file, int mode) {
  sqlite3* database = nullptr;
  if (sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READWRITE | mode, nullptr) == SQLITE_OK) return database;
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> closing(database, sqlite3_close);
  fail(database, file);
}

// Exclusive from the first access on: a second process is turned away, and no shared memory file is needed.
void prepare(sqlite3* database, const fs::path& file) {
  if (sqlite3_db_readonly(database, "main") == 1)
    throw InputError("the store " + file.string() +
                     " may not be written; change its permissions, or name another store");
  sqlite3_extended_result_codes(database, 0);
  execute(database, file, "PRAGMA locking_mode = EXCLUSIVE");
  execute(database, file, "PRAGMA journal_mode = WAL");
  // A commit is a write without a sync: it outlives the process, and a power cut can take the last ones only.
  execute(database, file, "PRAGMA synchronous = NORMAL");
  execute(database, file, "BEGIN EXCLUSIVE; COMMIT");
}

Kept kept(const Statement& row, int column, const fs::path& file) {
  Result<Told> told = told_by(row.bytes(column + 1));
  if (!told)
    throw InputError("the store " + file.string() + " holds a verdict of another version of assay; begin a new one");
  return {row.bytes(column), *std::move(told)};
}

std::string fact_of(const Identity& identity, const std::string& fact) {
  const auto found = identity.find(fact);
  return found == identity.end() ? "" : found->second;
}

Identity without_shard(Identity identity) {
  identity.erase("shard");
  return identity;
}

std::size_t planned(const Store& store, const fs::path& file) {
  const std::string cases = fact_of(store.identity(), "cases");
  if (cases.empty() || cases.find_first_not_of("0123456789") != std::string::npos || cases.size() > 9)
    throw InputError("the store " + file.string() + " does not say how many cases it plans");
  return std::stoull(cases);
}

void check_complete(const std::vector<bool>& there) {
  std::vector<std::size_t> lacking;
  for (std::size_t i = 0; i < there.size(); ++i)
    if (!there[i]) lacking.push_back(i);
  if (lacking.empty()) return;
  const std::string which = ranges(lacking);
  throw InputError("the stores lack " + std::to_string(lacking.size()) + " of " + std::to_string(there.size()) +
                   " cases: " + which.substr(0, 200) + (which.size() > 200 ? " …" : "") +
                   "; resume the shard that has them");
}

// A store under a name of its own until it is whole.
class Building {
 public:
  explicit Building(const fs::path& target) : target_(target), temporary_(target) {
    temporary_ += "." + std::to_string(::getpid()) + ".part";
    if (fs::exists(target)) throw InputError(target.string() + " is there already; name another file");
  }
  ~Building() {
    std::error_code ignored;
    for (const char* part : {"", "-wal", "-shm", "-journal"}) fs::remove(temporary_.string() + part, ignored);
  }
  Building(const Building&) = delete;
  Building& operator=(const Building&) = delete;

  const fs::path& file() const { return temporary_; }
  void finish() {
    std::error_code failure;
    fs::rename(temporary_, target_, failure);
    if (failure) throw InputError("cannot write " + target_.string() + ": " + failure.message());
  }

 private:
  fs::path target_, temporary_;
};

}  // namespace

std::string difference(const Identity& there, const Identity& here) {
  std::set<std::string> facts;
  for (const auto* identity : {&there, &here})
    for (const auto& [fact, value] : *identity) facts.insert(fact);
  const auto worded = [](const std::string& value) { return value.empty() ? std::string("not said") : value; };
  std::string all;
  for (const std::string& fact : facts)
    if (fact_of(there, fact) != fact_of(here, fact))
      all += (all.empty() ? "" : "; ") + fact + " is " + worded(fact_of(there, fact)) + " there and " +
             worded(fact_of(here, fact)) + " here";
  return all;
}

void Store::Closer::operator()(sqlite3* database) const { sqlite3_close(database); }
Store::Store(fs::path file, Database database) : file_(std::move(file)), database_(std::move(database)) {
  prepare(database_.get(), file_);
}
Store::Store(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::create(const fs::path& file, const Identity& identity) {
  std::error_code ignored;
  if (fs::exists(file, ignored) && fs::file_size(file, ignored) > 0)
    throw InputError(file.string() + " is there already; go on with it by --resume, or name another file");
  Store store(file, Database(opened(file, SQLITE_OPEN_CREATE)));
  store.begin(identity);
  return store;
}

Store Store::resume(const fs::path& file, const Identity& identity) {
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    throw InputError("there is no store " + file.string() + "; leave --resume out to begin it");
  Store store(file, Database(opened(file, 0)));
  if (store.is_empty()) {
    store.begin(identity);
    return store;
  }
  store.check_format();
  store.read_identity();
  if (const std::string differs = difference(store.identity_, identity); !differs.empty())
    throw InputError("the store " + file.string() + " is of another campaign: " + differs);
  return store;
}

Store Store::open(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) throw InputError("there is no store " + file.string());
  Store store(file, Database(opened(file, 0)));
  store.check_format();
  store.read_identity();
  return store;
}

bool Store::is_empty() const {
  Statement tables_there(database_.get(), file_, "SELECT count(*) FROM sqlite_schema");
  return tables_there.step() && tables_there.number(0) == 0 && pragma(database_.get(), file_, "application_id") == 0;
}

// In one transaction: a store is whole or empty.
void Store::begin(const Identity& identity) {
  sqlite3* database = database_.get();
  execute(database, file_, "BEGIN EXCLUSIVE");
  execute(database, file_, tables);
  for (const auto& [fact, value] : identity) {
    Statement insert(database, file_, "INSERT INTO identity VALUES(?1, ?2)");
    insert.text(1, fact).text(2, value).step();
  }
  execute(database, file_, "PRAGMA application_id = " + std::to_string(application));
  execute(database, file_, "PRAGMA user_version = " + std::to_string(format));
  execute(database, file_, "COMMIT");
  identity_ = identity;
}

void Store::check_format() const {
  if (pragma(database_.get(), file_, "application_id") != application)
    throw InputError(file_.string() + " is no assay store; name another file");
  if (const std::int64_t version = pragma(database_.get(), file_, "user_version"); version != format)
    throw InputError("the store " + file_.string() + " has format " + std::to_string(version) +
                     ", and this assay reads format " + std::to_string(format) + "; use the assay that wrote it");
}

void Store::read_identity() {
  Statement select(database_.get(), file_, "SELECT fact, value FROM identity");
  while (select.step()) identity_[select.bytes(0)] = select.bytes(1);
}

void Store::put(std::size_t index, std::string_view line, const Told& told) {
  const std::string bytes = bytes_of(told);
  Statement insert(database_.get(), file_, "INSERT INTO verdicts VALUES(?1, ?2, ?3, ?4, ?5)");
  insert.number(1, static_cast<std::int64_t>(index)).text(2, line).text(3, oracles::name(told.verdict.state));
  insert.text(4, told.verdict.because).blob(5, bytes);
  try {
    insert.step();
  } catch (const InputError&) {
    expects(!has(index), "a case is kept once");
    throw;
  }
}

void Store::remove(std::size_t index) {
  Statement remove(database_.get(), file_, "DELETE FROM verdicts WHERE \"index\" = ?1");
  remove.number(1, static_cast<std::int64_t>(index)).step();
}

std::optional<Kept> Store::at(std::size_t index) const {
  Statement select(database_.get(), file_, "SELECT line, verdict FROM verdicts WHERE \"index\" = ?1");
  if (!select.number(1, static_cast<std::int64_t>(index)).step()) return std::nullopt;
  return kept(select, 0, file_);
}

bool Store::has(std::size_t index) const {
  Statement select(database_.get(), file_, "SELECT 1 FROM verdicts WHERE \"index\" = ?1");
  return select.number(1, static_cast<std::int64_t>(index)).step();
}

std::size_t Store::count() const {
  Statement select(database_.get(), file_, "SELECT count(*) FROM verdicts");
  select.step();
  return static_cast<std::size_t>(select.number(0));
}

void Store::each(const std::function<void(std::size_t, const Kept&)>& tell) const {
  Statement select(database_.get(), file_, "SELECT \"index\", line, verdict FROM verdicts ORDER BY \"index\"");
  while (select.step()) tell(static_cast<std::size_t>(select.number(0)), kept(select, 1, file_));
}

void Store::put_finding(std::string_view key, std::string_view text) {
  Statement insert(database_.get(), file_, "INSERT OR REPLACE INTO findings VALUES(?1, ?2)");
  insert.text(1, key).text(2, text).step();
}

std::map<std::string, std::string> Store::findings() const {
  Statement select(database_.get(), file_, "SELECT key, text FROM findings");
  std::map<std::string, std::string> all;
  while (select.step()) all[select.bytes(0)] = select.bytes(1);
  return all;
}

std::string ranges(const std::vector<std::size_t>& ascending) {
  std::string all;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    all += (all.empty() ? "" : ", ") + std::to_string(ascending[i]);
    if (last > i) all += "-" + std::to_string(ascending[last]);
    i = last + 1;
  }
  return all;
}

void merge(const std::vector<fs::path>& parts, const fs::path& into) {
  if (parts.empty()) throw InputError("no store to merge; name the stores of the shards");
  Building building(into);
  std::vector<bool> there;
  {
    std::optional<Store> whole;
    for (const fs::path& file : parts) {
      const Store part = Store::open(file);
      if (!whole) {
        there.resize(planned(part, file));
        whole.emplace(Store::create(building.file(), without_shard(part.identity())));
        execute(whole->database_.get(), building.file(), "BEGIN EXCLUSIVE");
      }
      if (const std::string differs = difference(without_shard(part.identity()), whole->identity()); !differs.empty())
        throw InputError("the store " + file.string() + " is of another campaign than " + parts.front().string() +
                         ": " + differs);
      part.each([&](std::size_t index, const Kept& kept) {
        if (index >= there.size()) throw InputError("the store " + file.string() + " holds a case beyond its plan");
        if (there[index])
          throw InputError("case " + std::to_string(index) + " is in " + file.string() + " and in another store");
        there[index] = true;
        whole->put(index, kept.line, kept.told);
      });
      for (const auto& [key, text] : part.findings()) whole->put_finding(key, text);
    }
    check_complete(there);
    execute(whole->database_.get(), building.file(), "COMMIT");
  }
  building.finish();
}

}  // namespace assay::suites
