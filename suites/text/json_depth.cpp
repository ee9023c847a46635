// SPDX-License-Identifier: Apache-2.0
#include "suites/text/json_depth.h"

#include <nlohmann/json.hpp>

namespace assay::suites {
namespace {

using Json = nlohmann::json;

// Hears of every value, keeps none, and stops the reading where it goes too deep.
class Depth final : public Json::json_sax_t {
 public:
  bool is_too_deep() const { return depth_ > deepest_json; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return descend(); }
  bool start_array(std::size_t) override { return descend(); }
  bool end_object() override { return ascend(); }
  bool end_array() override { return ascend(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  bool descend() { return ++depth_ <= deepest_json; }
  bool ascend() {
    --depth_;
    return true;
  }
  int depth_ = 0;
};

}  // namespace

bool nests_too_deep(std::string_view json) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      i += c == '\\';
      continue;
    }
    if ((c == '[' || c == '{') && ++depth > deepest_json) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

bool cbor_nests_too_deep(std::string_view cbor) {
  Depth depth;
  Json::sax_parse(cbor.begin(), cbor.end(), &depth, nlohmann::detail::input_format_t::cbor);
  return depth.is_too_deep();
}

}  // namespace assay::suites
