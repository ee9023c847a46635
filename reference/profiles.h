// SPDX-License-Identifier: Apache-2.0
// Profile: a part of ONNX that another body admits for its own use, stated as restrictions with tags of its own. A case
// lies within a profile where the profile specifies its operator and the call keeps every restriction.
#pragma once

#include "reference/case.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Restriction {
  std::string_view id, text;   // "R2"; reports write "Conv.R2"
  bool (*holds)(const Call&);  // total, as predicates of constraints are
};

struct Profile {
  struct Part {
    std::string_view domain, name;  // of the operator
    std::vector<Restriction> restrictions;
  };
  std::string_view name, title, source;
  std::vector<Part> parts;

  // Null where the profile does not specify the operator.
  const Part* part(const OpVersion& version) const;
};

const std::vector<Profile>& profiles();
const Profile* find_profile(std::string_view name);

std::string tag(const Profile::Part& part, const Restriction& restriction);  // "Conv.R2"

std::vector<std::string> tags(const Profile::Part& part);  // of all

// What keeps a case outside the profile: tags of the restrictions it breaks, or "NAME is not specified". Empty: it lies
// within.
std::vector<std::string> outside(const Profile& profile, const Case& c);

// The same case with every attribute written on the node. What breaks a general constraint stays as it is.
Case spelt_out(Case c);

}  // namespace assay
