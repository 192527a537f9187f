# shellcheck shell=bash
# For scripts that build libraries from Debian's source packages: sourced by them.

# fetch_source PACKAGE FOLDER unpacks the newest source package that this machine's package sources have to
# FOLDER/src/PACKAGE-VERSION. /etc/apt remains unchanged: the package sources are copied as source entries to FOLDER.
fetch_source() {
  local package=$1 work=$2 file
  mkdir -p "$work"/{sources,lists/partial,archives/partial,src}
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ -f $file ]] && sed -nE 's/^deb(-src)?[[:space:]]/deb-src /p' "$file" >>"$work/sources/all.list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -f $file ]] && sed -E 's/^Types:.*/Types: deb-src/' "$file" >"$work/sources/$(basename "$file")"
  done
  local options=(-o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/sources"
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work" -o "APT::Sandbox::User=" -qq)
  # Some sources may have no source packages; what matters is that the next command finds this one.
  apt-get "${options[@]}" update || true
  (cd "$work/src" && apt-get "${options[@]}" source "$package")
}
