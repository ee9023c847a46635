// SPDX-License-Identifier: Apache-2.0
// Rulings: how we read a clause of the standard that is silent or contradicts itself, and which other readings a
// backend may hold without being wrong. Ids are the A-numbers of the README in this folder.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Ruling {
  std::string_view id;                     // "A8"
  std::string_view title;                  // what is unclear
  std::string_view decision;               // how we read it, and the evidence
  std::vector<std::string_view> readings;  // the ruling first; empty where nothing else is admissible
  enum Kind : unsigned {
    set = 1,          // each reading passes by itself, no vote is needed, and the report names the member followed
    nonfinite = 2,    // only NaN and infinities in the data bring it up
    overflow = 4,     // only integers that do not fit bring it up
    chosen_once = 8,  // of a set: one member for the whole output
  };
  unsigned kinds = 0;
  bool is(Kind kind) const { return (kinds & kind) != 0; }
};

std::span<const Ruling> rulings();
const Ruling* find_ruling(std::string_view id);

// One reading per ruling; a ruling that is not mentioned is read as ruled.
class Readings {
 public:
  Readings() = default;
  explicit Readings(std::map<std::string, std::string, std::less<>> departures) : departures_(std::move(departures)) {}

  // The reading of `id` in force, the ruling itself by default.
  std::string_view of(std::string_view id) const;
  bool departs(std::string_view id) const { return note_read(id), departures_.contains(id); }
  Readings with(std::string id, std::string reading) const;
  const std::map<std::string, std::string, std::less<>>& departures() const { return departures_; }
  auto operator<=>(const Readings&) const = default;

 private:
  static void note_read(std::string_view id);
  std::map<std::string, std::string, std::less<>> departures_;
};

// Notes which rulings this thread reads while it lives. What is worked out without reading a ruling is the same under
// any reading of it.
class ReadRulings {
 public:
  ReadRulings();
  ~ReadRulings();
  ReadRulings(const ReadRulings&) = delete;
  ReadRulings& operator=(const ReadRulings&) = delete;
  bool contains(std::string_view id) const { return ids_.contains(id); }

 private:
  friend class Readings;
  std::set<std::string_view> ids_;
  ReadRulings* outer_;
};

// Readings as text, "A7=text-floor A8=keep"; empty for the rulings themselves.
std::string text(const Readings& readings);

}  // namespace assay
