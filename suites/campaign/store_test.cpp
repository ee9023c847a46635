// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/store.h"

#include "reference/result.h"
#include "reference/testing/run_size.h"
#include "suites/sandbox/process.h"
#include "suites/triage/fuzz.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <random>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using oracles::State;

struct Folder : TemporaryDirectory {
  Folder() { fs::permissions(path(), fs::perms::all); }  // another user has to reach it in one test
  fs::path operator/(const std::string& name) const { return path() / name; }
};

const Identity campaign{{"backend", "example 1.0"}, {"seed", "1"}, {"cases", "100000"}};

Identity with(Identity identity, const std::string& fact, const std::string& value) {
  identity[fact] = value;
  return identity;
}

// What is kept at an index is a function of the index, so nothing can be invented unnoticed.
std::string line_at(std::size_t index) { return "Conv-11 opset=11 #" + std::to_string(index); }
Told told_at(std::size_t index) {
  Told told;
  told.verdict.state = index % 7 == 0 ? State::fail : State::pass;
  told.verdict.because = index % 7 == 0 ? "value" : "";
  told.verdict.detail = std::string(index % 900, 'x');
  told.verdict.elements = static_cast<Int>(index);
  if (index % 11 == 0) told.marks.push_back({"unstable", "repeated", std::to_string(index), true, ""});
  return told;
}
void put(Store& store, std::size_t index) { store.put(index, line_at(index), told_at(index)); }
bool is_as_put(std::size_t index, const Kept& kept) {
  return kept.line == line_at(index) && bytes_of(kept.told) == bytes_of(told_at(index));
}

// What SQLite itself answers over the file.
std::string executed(const fs::path& file, const char* sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  std::string said;
  const auto keep = [](void* into, int, char** values, char**) {
    *static_cast<std::string*>(into) += values[0];
    return 0;
  };
  REQUIRE(sqlite3_exec(database, sql, keep, &said, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  return said;
}
std::string integrity(const fs::path& file) { return executed(file, "PRAGMA integrity_check"); }

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string resumed(const fs::path& file) {
  return refusal([&] { Store::resume(file, campaign); });
}
std::string unmerged(const std::vector<fs::path>& files, const fs::path& into) {
  return refusal([&] { merge(files, into); });
}

// Runs `work` in a process of its own, which gets the writing end of a pipe; the reading end stays here.
struct Child {
  explicit Child(const std::function<void(int)>& work) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    id = ::fork();
    if (id < 0) throw std::runtime_error("no fork");  // no destructor will run
    if (id == 0) {
      ::close(ends[0]);
      try {
        work(ends[1]);
      } catch (const std::exception& error) {
        tell(ends[1], error.what());
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    reading = ends[0];
  }
  ~Child() {
    end();
    ::close(reading);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Kills it, once: any other id would be somebody else, and -1 everybody.
  void end() {
    if (is_over_ || id <= 0) return;
    is_over_ = true;
    ::kill(id, SIGKILL);
    ::waitpid(id, nullptr, 0);
  }
  static void tell(int descriptor, std::string_view words) {
    if (::write(descriptor, words.data(), words.size()) < 0) ::_exit(1);
  }
  // Tells whether another byte came before the child ended.
  bool heard() const {
    char byte;
    return ::read(reading, &byte, 1) == 1;
  }
  std::string rest() const {
    std::string all;
    char bytes[256];
    for (ssize_t got; (got = ::read(reading, bytes, sizeof bytes)) > 0;)
      all.append(bytes, static_cast<std::size_t>(got));
    return all;
  }

  pid_t id = 0;
  int reading = -1;

 private:
  bool is_over_ = false;
};

TEST_CASE("what was put is there, in this run and the next", "[store]") {
  const Folder folder;
  {
    Store store = Store::create(folder / "a.store", campaign);
    for (const std::size_t index : {0, 5, 77}) put(store, static_cast<std::size_t>(index));
    store.put_finding("first", "old");
    store.put_finding("first", "new");
    CHECK(is_as_put(5, *store.at(5)));
    CHECK_FALSE(store.at(6));
  }
  std::vector<std::size_t> seen;
  {
    const Store store = Store::resume(folder / "a.store", campaign);
    CHECK(store.count() == 3);
    CHECK(store.findings() == std::map<std::string, std::string>{{"first", "new"}});
    store.each([&](std::size_t index, const Kept& kept) {
      CHECK(is_as_put(index, kept));
      seen.push_back(index);
    });
  }
  CHECK(seen == std::vector<std::size_t>{0, 5, 77});
  CHECK(integrity(folder / "a.store") == "ok");
}

TEST_CASE("a store is begun once and gone on with by the same campaign only", "[store]") {
  const Folder folder;
  const fs::path file = folder / "a.store";
  CHECK_THAT(resumed(file), Contains("there is no store"));
  Store::create(file, campaign);
  CHECK(refusal([&] { Store::create(file, campaign); }) ==
        file.string() + " is there already; go on with it by --resume, or name another file");
  CHECK(refusal([&] { Store::resume(file, with(with(campaign, "seed", "2"), "level", "L1")); }) ==
        "the store " + file.string() +
            " is of another campaign: level is not said there and L1 here; seed is 1 there and 2 here");
  CHECK_THAT(refusal([&] { Store::create(folder / "no/a.store", campaign); }), Contains("cannot open"));
}

TEST_CASE("a case is kept once", "[store]") {
  const Folder folder;
  Store store = Store::create(folder / "a.store", campaign);
  put(store, 3);
  CHECK_THROWS_AS(put(store, 3), BrokenPromise);
}

TEST_CASE("a store that refuses a case it lacks is damaged", "[store]") {
  const Folder folder;
  Store::create(folder / "a.store", campaign);
  executed(folder / "a.store", "CREATE UNIQUE INDEX states ON verdicts(state)");
  Store store = Store::resume(folder / "a.store", campaign);
  put(store, 3);
  CHECK_THAT(refusal([&] { put(store, 4); }), Contains("is damaged: it refuses a case it lacks"));
}

TEST_CASE("a file that is no assay store, or a newer one, is named and left alone", "[store]") {
  const Folder folder;
  std::ofstream(folder / "text") << std::string(2000, 'x');
  CHECK(resumed(folder / "text") == (folder / "text").string() + " is no assay store; name another file");
  CHECK(fs::file_size(folder / "text") == 2000);

  executed(folder / "other", "CREATE TABLE t(x)");
  CHECK_THAT(resumed(folder / "other"), Contains("is no assay store"));

  Store::create(folder / "newer", campaign);
  executed(folder / "newer", "PRAGMA user_version = 2");
  CHECK_THAT(resumed(folder / "newer"), Contains("has format 2, and this assay reads format 1"));
}

TEST_CASE("a second process is told which one has the store", "[store]") {
  const Folder folder;
  const fs::path file = folder / "a.store";
  const Child holder([&](int told) {
    Store store = Store::create(file, campaign);
    put(store, 0);
    Child::tell(told, "!");
    ::pause();
  });
  REQUIRE(holder.heard());
  const std::string used = "is in use by process " + std::to_string(holder.id) + ";";
  CHECK_THAT(resumed(file), Contains(used));
  CHECK_THAT(refusal([&] { Store::open(file); }), Contains(used));
}

TEST_CASE("a kill at any moment loses nothing that was kept, and invents nothing", "[store][kill]") {
  const Folder folder;
  const fs::path file = folder / "a.store";
  std::mt19937 random(std::random_device{}());
  const int kills = is_full_run() ? 50 : 8;
  std::size_t known = 0;
  for (int round = 0; round < kills; ++round) {
    Child writer([&](int told) {
      Store store = fs::exists(file) ? Store::resume(file, campaign) : Store::create(file, campaign);
      for (std::size_t index = store.count();; ++index) {
        put(store, index);
        Child::tell(told, "!");
      }
    });
    // Every other time before the first word, at a moment that the machine's noise decides.
    const std::size_t words = round % 2 ? 0 : random() % 700;
    for (std::size_t heard = 0; heard < words; ++heard) REQUIRE(writer.heard());
    const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 3000);
    while (std::chrono::steady_clock::now() < moment) {
    }
    writer.end();
    const std::size_t acknowledged = known + words + writer.rest().size();
    if (!fs::exists(file)) continue;
    CHECK(integrity(file) == "ok");
    const Store store = Store::resume(file, campaign);
    std::size_t next = 0;
    store.each([&](std::size_t index, const Kept& kept) {
      REQUIRE(index == next++);
      REQUIRE(is_as_put(index, kept));
    });
    INFO(acknowledged << " acknowledged, " << next << " there");
    CHECK((next == acknowledged || next == acknowledged + 1));
    known = next;
  }
}

TEST_CASE("where the file may not grow the store says so and keeps what it has", "[store]") {
  const Folder folder;
  const fs::path file = folder / "a.store";
  const Child writer([&](int told) {
    std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {300'000, 300'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Store store = Store::create(file, campaign);
    for (std::size_t index = 0;; ++index) {
      put(store, index);
      Child::tell(told, "!");
    }
  });
  const std::string said = writer.rest();
  const std::size_t kept = said.find_first_not_of('!');
  REQUIRE(kept > 10);
  REQUIRE(kept != std::string::npos);
  INFO(said.substr(kept));
  CHECK(said.find("what was kept stays: check its disk") != std::string::npos);
  CHECK(integrity(file) == "ok");
  Store store = Store::resume(file, campaign);
  CHECK(store.count() == kept);
  put(store, kept);
}

TEST_CASE("a store that may not be written says so", "[store]") {
  const Folder folder;
  const fs::path file = folder / "a.store";
  Store::create(file, campaign);
  fs::permissions(file, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  const Child stranger([&](int told) {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(1);
    Child::tell(told, resumed(file));
  });
  CHECK(stranger.rest() ==
        "the store " + file.string() + " may not be written; change its permissions, or name another store");
}

TEST_CASE("indices are told as ranges", "[store]") {
  CHECK(ranges({}).empty());
  CHECK(ranges({4}) == "4");
  CHECK(ranges({0, 1, 2, 7, 9, 10}) == "0-2, 7, 9-10");
}

// Stores of `count` shards, the cases dealt out by `shard_of`.
std::vector<fs::path> shards(const Folder& folder, std::size_t count, const std::vector<std::size_t>& shard_of) {
  std::vector<fs::path> files;
  for (std::size_t shard = 0; shard < count; ++shard) {
    files.push_back(folder / ("shard" + std::to_string(shard)));
    Identity identity = with(campaign, "cases", std::to_string(shard_of.size()));
    Store store =
        Store::create(files.back(), with(identity, "shard", std::to_string(shard + 1) + "/" + std::to_string(count)));
    for (std::size_t index = 0; index < shard_of.size(); ++index)
      if (shard_of[index] == shard) put(store, index);
    store.put_finding("shard" + std::to_string(shard), "x");
  }
  return files;
}

TEST_CASE("however the cases are dealt out, the merged store is that of the single run", "[store]") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const int rounds = is_full_run() ? 100 : 8;  // each syncs the disk a dozen times
  for (int round = 0; round < rounds; ++round) {
    const Folder folder;
    const std::size_t count = 1 + random() % 3;
    std::vector<std::size_t> shard_of(random() % 9);
    for (std::size_t& shard : shard_of) shard = random() % count;
    merge(shards(folder, count, shard_of), folder / "whole");
    const Store whole = Store::resume(folder / "whole", with(campaign, "cases", std::to_string(shard_of.size())));
    std::size_t next = 0;
    whole.each([&](std::size_t index, const Kept& kept) {
      CHECK(index == next++);
      CHECK(is_as_put(index, kept));
    });
    CHECK(next == shard_of.size());
    CHECK(whole.findings().size() == count);
  }
}

TEST_CASE("stores that do not make a whole are refused, and nothing is written", "[store]") {
  const Folder folder;
  const std::vector<fs::path> files = shards(folder, 3, {0, 1, 2, 0, 1, 2, 2, 0});
  const fs::path whole = folder / "whole";
  CHECK(unmerged({files[0], files[1]}, whole) ==
        "the stores lack 3 of 8 cases: 2, 5-6; resume the shard that has them");
  CHECK_THAT(unmerged({files[0], files[1], files[2], files[1]}, whole),
             StartsWith("case 1 is in " + files[1].string()));
  Store::create(folder / "stranger", with(with(campaign, "cases", "8"), "seed", "2"));
  CHECK_THAT(unmerged({files[0], folder / "stranger"}, whole),
             Contains("is of another campaign than " + files[0].string() + ": seed is 2 there and 1 here"));
  CHECK_THAT(unmerged({}, whole), StartsWith("no store to merge"));
  CHECK_FALSE(fs::exists(whole));
  merge(files, whole);
  CHECK(unmerged(files, whole) == whole.string() + " is there already; name another file");
  int others = 0;
  for (const auto& each : fs::directory_iterator(whole.parent_path()))
    others += each.path().string().find(".part") != std::string::npos;
  CHECK(others == 0);
}

}  // namespace
TEST_CASE("Store: what a backend declares it does not take belongs to the identity of a campaign", "[store]") {
  Description described;
  described.types = {"f32"};
  const auto identity = [](const Description& backend) { return identity_of({}, "reference", backend, {}, "0"); };
  const Identity before = identity(described);
  CHECK(identity(described) == before);
  Description more = described, newer = described, fewer = described, shapes = described, excluding = described;
  more.types.insert("f16");
  newer.newest_opset = 21;
  fewer.operators = {"Conv-11"};
  shapes.answers_shapes = true;
  excluding.excludes = {*parse_predicate("rank(X) > 4")};
  for (const Description& changed : {more, newer, fewer, shapes, excluding}) CHECK(identity(changed) != before);
}

}  // namespace assay::suites
