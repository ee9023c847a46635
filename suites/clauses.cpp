// SPDX-License-Identifier: Apache-2.0
#include "suites/clauses.h"

#include "oracles/case_class.h"
#include "reference/operator.h"

#include <algorithm>
#include <iterator>

namespace assay::suites {
namespace {

struct Traits {
  bool same = false, dilated = false, padded = false, wide_pads = false, empty = false, nonfinite = false;
};

Traits traits_of(const Case& c) {
  const Call call = c.call();
  Traits traits;
  traits.same = call.states("auto_pad") && call.text("auto_pad").starts_with("SAME_");
  const Ints dilations = call.states("dilations") ? call.ints("dilations") : Ints();
  traits.dilated = std::ranges::any_of(dilations, [](Int each) { return each > 1; });
  const Ints pads = call.states("pads") ? call.ints("pads") : Ints();
  const Ints kernel = call.states("kernel_shape") ? call.ints("kernel_shape") : Ints();
  traits.padded = traits.same || std::ranges::any_of(pads, [](Int each) { return each > 0; });
  for (std::size_t i = 0; i < pads.size() && !kernel.empty(); ++i)
    traits.wide_pads |= pads[i] >= kernel[i % kernel.size()];
  const Shape& first = c.node.inputs.at(c.definition().inputs.front().name).type.shape;
  traits.empty = std::ranges::find(first, 0) != first.end();
  traits.nonfinite =
      std::ranges::any_of(c.sources, [](const auto& source) { return is_nonfinite(source.second.recipe); });
  return traits;
}

}  // namespace

std::vector<std::string> clauses_of(const Case& c) {
  std::vector<std::string> ids;
  const Definition& definition = c.definition();
  for (const std::string& id : definition.violated(c.call())) ids.push_back(c.version.name + "." + id);
  if (!ids.empty()) return ids;
  ids = oracles::touched(c);
  const Traits traits = traits_of(c);
  const std::pair<const char*, bool> settled[] = {{"A2", traits.same && traits.dilated},
                                                  {"A12", traits.padded},
                                                  {"A15", traits.wide_pads},
                                                  {"A28", traits.nonfinite},
                                                  {"A30", traits.dilated},
                                                  {"A31", traits.same && traits.empty}};
  for (const auto& [id, speaks] : settled)
    if (speaks && definition.ruling(id) && std::ranges::find(ids, id) == ids.end()) ids.emplace_back(id);
  return ids;
}

}  // namespace assay::suites
