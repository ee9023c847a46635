// SPDX-License-Identifier: Apache-2.0
#include "reports/checked_json.h"

#include "suites/text/printable.h"
#include "suites/workers/places.h"

#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

namespace assay::reports {
namespace {

using Json = nlohmann::json;
using Event = Json::parse_event_t;

// Thrown by the watch below, caught where it was set.
struct Refused {
  std::string why;
};

// Looks on while a document is read: what JSON leaves open, and what would cost us dearly.
class Watch {
 public:
  bool operator()(int depth, Event event, const Json& parsed) {
    if (depth > deepest_nesting) throw Refused{"it nests deeper than " + std::to_string(deepest_nesting) + " levels"};
    if (event == Event::object_start) {
      if (members_.size() <= static_cast<std::size_t>(depth)) members_.resize(static_cast<std::size_t>(depth) + 1);
      members_[static_cast<std::size_t>(depth)].clear();
    }
    if (parsed.is_string() && parsed.get_ref<const std::string&>().size() > longest_string)
      throw Refused{"it holds a string of more than " + std::to_string(longest_string) + " bytes"};
    // The key of a member has the depth of its object and one.
    if (event == Event::key && !members_.at(static_cast<std::size_t>(depth) - 1).insert(parsed).second)
      throw Refused{"the member " + suites::printable(parsed.get<std::string>(), 60) + " is there twice"};
    return true;
  }

 private:
  std::vector<std::set<std::string>> members_;  // of the objects that are open, by depth
};

// "<root>", "[operators]", "[3]" as "/operators/3".
std::string pointer(const std::vector<std::string>& context) {
  std::string path;
  for (const std::string& step : context)
    if (step.size() > 2 && step.front() == '[') path += "/" + step.substr(1, step.size() - 2);
  return path.empty() ? "/" : suites::printable(path, 200);
}

// Read once each: that takes longer than to hold a document against it.
const valijson::Schema& schema_named(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, valijson::Schema> all;
  const std::filesystem::path file = suites::reports_folder() / name;
  const std::scoped_lock lock(mutex);
  if (const auto found = all.find(file); found != all.end()) return found->second;
  std::ifstream in(file);
  if (!in) throw InputError("cannot read " + file.string() + ": set ASSAY_HOME to the folder of the project");
  const Json text = Json::parse(in);
  valijson::Schema& schema = all[file];
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schema);
  return schema;
}

}  // namespace

Result<Json> parse_stranger(std::string_view text) {
  try {
    return Json::parse(text, [watch = Watch()](int depth, Event event, const Json& parsed) mutable {
      return watch(depth, event, parsed);
    });
  } catch (const Refused& refused) {
    return Error{refused.why};
  } catch (const Json::parse_error& error) {
    return Error{"it is no JSON, or cut short, at byte " + std::to_string(error.byte)};
  } catch (const Json::exception&) {
    return Error{"it holds a number that no computer has"};
  }
}

std::string breach_of_schema(const Json& document, const std::string& name) {
  const valijson::Schema& schema = schema_named(name);
  valijson::ValidationResults results;
  valijson::Validator validator;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results)) return "";
  // The innermost is the first.
  valijson::ValidationResults::Error error;
  results.popError(error);
  return pointer(error.context) + ": " + suites::printable(error.description, 200);
}

}  // namespace assay::reports
