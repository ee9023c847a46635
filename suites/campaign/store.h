// SPDX-License-Identifier: Apache-2.0
// Store: the verdicts of one campaign on disk while it goes on (SQLite, WAL). What `put` has returned from is there
// after a kill -9 at any moment; after a power cut the last verdicts may be missing, but never anything else.
#pragma once

#include "suites/campaign/verdict_bytes.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace assay::suites {

// What the campaign of a store is, as named facts in text: two runs may share a store when all of them are equal.
// "cases" is how many cases the campaign plans; "shard" ("2/4") is the one fact in which stores to be merged differ.
using Identity = std::map<std::string, std::string>;
// Empty where they are the same, else "seed is 1 there and 2 here; …".
std::string difference(const Identity& there, const Identity& here);

struct Kept {
  std::string line;  // the case's
  Told told;
};

// One thread at a time.
class Store {
 public:
  // A new store. Throws InputError where there is something already.
  static Store create(const std::filesystem::path& file, const Identity& identity);
  // The store of the same campaign, to go on with. A run that was killed before its first verdict left an empty one.
  static Store resume(const std::filesystem::path& file, const Identity& identity);
  // Any store, to read.
  static Store open(const std::filesystem::path& file);
  Store(Store&&) noexcept;
  ~Store();

  const Identity& identity() const { return identity_; }

  // Keeps one verdict. Throws InputError where the disk is full or fails; what was kept before stays.
  void put(std::size_t index, std::string_view line, const Told& told);
  // Forgets one verdict.
  void remove(std::size_t index);
  std::optional<Kept> at(std::size_t index) const;
  bool has(std::size_t index) const;
  std::size_t count() const;
  // All of them, by index.
  void each(const std::function<void(std::size_t, const Kept&)>& tell) const;

  // What is found beside verdicts, by a key of its own, as text; a key that is there already is replaced.
  void put_finding(std::string_view key, std::string_view text);
  std::map<std::string, std::string> findings() const;

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  using Database = std::unique_ptr<sqlite3, Closer>;
  Store(std::filesystem::path file, Database database);
  bool is_empty() const;
  void begin(const Identity& identity);
  void check_format() const;
  void read_identity();

  friend void merge(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& into);
  std::filesystem::path file_;
  Database database_;
  Identity identity_;
};

// The stores of all shards of one campaign as the store of the whole, which appears at once or not at all. Throws
// InputError where they are not of one campaign, have a case twice, or lack some; it says which.
void merge(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& into);

// Indices as "0-3, 7, 9-12".
std::string ranges(const std::vector<std::size_t>& ascending);

}  // namespace assay::suites
