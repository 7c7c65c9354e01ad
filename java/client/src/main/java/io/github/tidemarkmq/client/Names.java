package io.github.tidemarkmq.client;

/** How names, which are data from outside, are written for people. */
final class Names {
    private Names() {
    }

    /** The name as it is if it holds nothing but plain printable characters, else quoted and escaped. */
    static String plain(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c <= ' ' || c > '~' || c == '/' || c == '"') {
                return quoted(name);
            }
        }
        return name;
    }

    /** What narrows a scope: a group and a topic unless they are empty, a broker unless it is null. */
    static String scope(String group, String topic, String broker) {
        String text = group.isEmpty() ? "" : "group " + quoted(group);
        text += topic.isEmpty() ? "" : " topic " + quoted(topic);
        text += broker == null ? "" : " broker " + quoted(broker);
        return text.trim();
    }

    /** The name in quotes; what is not printable ASCII is escaped. */
    static String quoted(String name) {
        StringBuilder b = new StringBuilder(name.length() + 2).append('"');
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        return b.append('"').toString();
    }
}
