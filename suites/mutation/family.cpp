// SPDX-License-Identifier: Apache-2.0
#include "suites/mutation/family.h"

namespace assay::mutation {
namespace {

struct Member {
  OpVersion version;
  std::span<const VariantKernel> (*variants)();
  std::span<const Bug> (*bugs)();
};

const std::vector<Member>& members() {
  static const std::vector<Member> all{{{"", "QLinearConv", 10}, quantized_variants, quantized_bugs},
                                       {{"", "DeformConv", 19}, deformed_variants, deformed_bugs},
                                       {{"com.microsoft", "NhwcConv", 1}, channels_last_variants, channels_last_bugs}};
  return all;
}

const Member* member(const OpVersion& version) {
  for (const Member& m : members())
    if (m.version.domain == version.domain && m.version.name == version.name) return &m;
  return nullptr;
}

}  // namespace

std::span<const VariantKernel> variants_of(const OpVersion& version) {
  if (const Member* const found = member(version)) return found->variants();
  const Operator* const op = find_operator(version.domain, version.name);
  return op ? later_variants(*op) : std::span<const VariantKernel>{};
}

std::span<const Bug> bugs_of(const OpVersion& version) {
  if (const Member* const found = member(version)) return found->bugs();
  const Operator* const op = find_operator(version.domain, version.name);
  return op ? derived_bugs(*op) : std::span<const Bug>{};
}

std::vector<OpVersion> family() {
  std::vector<OpVersion> versions;
  for (const Member& m : members()) versions.push_back(m.version);
  for (const Operator* op : operators())
    if (!derived_bugs(*op).empty()) versions.push_back(op->versions().back().version);
  return versions;
}

std::optional<Kernel> windowed(const OpVersion& version, const GatherDeviation& deviation) {
  if (version.domain == "com.microsoft") {
    const std::optional<Kernel> sums = windowed_sums(version.name, deviation);
    return sums ? sums : windowed_integers(version.name, deviation);
  }
  if (!version.domain.empty()) return std::nullopt;
  if (version.name == "MaxPool") return selecting(deviation);
  if (version.name == "Conv" || version.name == "AveragePool") return gathering(deviation);
  return std::nullopt;
}

void borrow(std::vector<Bug>& bugs, const OpVersion& version, const std::string& prefix,
            std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    const std::string id = prefix + "-" + std::string(name);
    Mutant mutant = gathered_mutant(id);
    mutant.id = lower(version.name) + "-" + std::string(name);
    mutant.op = version.name;
    bugs.push_back({std::move(mutant), windowed(version, gathered_deviation(id)).value()});
  }
}

Call standing_for(const Call& call, TensorType x, TensorType w) {
  const Definition& conv = *find_definition({"", "Conv", 11});
  Node node;
  node.input("X", std::move(x)).input("W", std::move(w));
  for (const auto& [name, value] : call.node().attributes)
    if (conv.attribute(name)) node.attribute(name, value);
  return Call(conv, std::move(node));
}

}  // namespace assay::mutation
