// SPDX-License-Identifier: Apache-2.0
#include "reference/profiles.h"

#include <algorithm>

namespace assay {
namespace {

// Written with a value: an empty list reads as absent.
bool has_value(const Call& c, const std::string& attribute) {
  const auto found = c.node().attributes.find(attribute);
  if (found == c.node().attributes.end()) return false;
  const Ints* list = std::get_if<Ints>(&found->second);
  return !list || !list->empty();
}

// The general constraint that is broken; what breaks one has no ranks or attributes to ask for.
std::optional<std::string> broken_general(const Case& c) {
  const std::vector<std::string> violated = c.definition().violated(c.call());
  if (violated.empty() || !violated.front().starts_with('G')) return std::nullopt;
  return violated.front();
}

bool has_two_spatial_axes(const Call& c) { return c.rank("X") == 4 && c.rank("W") == 4; }

bool is_standard_or_depthwise(const Call& c) {
  return c.integer("group") == 1 || (c.rank("X") >= 2 && c.integer("group") == c.dim("X", 1));
}

bool states_every_attribute(const Call& c) {
  return std::ranges::all_of(c.definition().attributes,
                             [&](const AttributeSpec& spec) { return has_value(c, spec.name); });
}

// The safety-related profile of the ONNX working groups. Of the operators here its published text has Conv alone. A
// draft that revises it keeps R1 to R3 and states R4 for all operators; R5 follows from R1 in a valid model.
const Profile& sonnx() {
  static const Profile profile{
      "sonnx",
      "ONNX safety-related profile (SONNX)",
      "github.com/onnx/working-groups, safety-related-profile/documents/profile_opset/conv/conv.md",
      {{"",
        "Conv",
        {{"R1", "the tensors have two spatial axes", has_two_spatial_axes},
         {"R2", "auto_pad is NOTSET", [](const Call& c) { return c.text("auto_pad") == "NOTSET"; }},
         {"R3", "group is 1 or the number of channels of X", is_standard_or_depthwise},
         {"R4", "every attribute has an explicit value", states_every_attribute},
         {"R5", "strides has two elements", [](const Call& c) { return c.ints("strides").size() == 2; }}}}}};
  return profile;
}

}  // namespace

const Profile::Part* Profile::part(const OpVersion& version) const {
  for (const Part& each : parts)
    if (each.domain == version.domain && each.name == version.name) return &each;
  return nullptr;
}

const std::vector<Profile>& profiles() {
  static const std::vector<Profile> all{sonnx()};
  return all;
}

const Profile* find_profile(std::string_view name) {
  for (const Profile& each : profiles())
    if (each.name == name) return &each;
  return nullptr;
}

std::string tag(const Profile::Part& part, const Restriction& restriction) {
  return std::string(part.name) + "." + std::string(restriction.id);
}

std::vector<std::string> tags(const Profile::Part& part) {
  std::vector<std::string> all;
  for (const Restriction& each : part.restrictions) all.push_back(tag(part, each));
  return all;
}

std::vector<std::string> outside(const Profile& profile, const Case& c) {
  const Profile::Part* part = profile.part(c.version);
  if (!part) return {c.version.name + " is not specified"};
  if (const auto id = broken_general(c)) return {"breaks " + c.version.name + "." + *id};
  const Call call = c.call();
  std::vector<std::string> broken;
  for (const Restriction& each : part->restrictions)
    if (!each.holds(call)) broken.push_back(tag(*part, each));
  return broken;
}

Case spelt_out(Case c) {
  if (broken_general(c)) return c;
  const Call call = c.call();
  for (const AttributeSpec& spec : c.definition().attributes) {
    if (spec.required || has_value(call, spec.name) || (!spec.value && !spec.derived)) continue;
    c.node.attribute(spec.name, spec.value ? *spec.value : Attribute(spec.derived(call)));
  }
  return c;
}

}  // namespace assay
